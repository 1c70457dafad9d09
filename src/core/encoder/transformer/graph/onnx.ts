/**
 * Writes a graph as an ONNX ModelProto, without a protobuf library. The field
 * numbers are those of onnx.proto, which never change. Chunks are joined once at
 * the end, so that weights are copied only once.
 */
import type { Attribute, Constant, Dim, ElementType, Graph, Node, Value } from "./graph.ts";

/** Opset 20 is the first with Gelu and belongs to IR version 9. "com.microsoft" has only version 1. */
const OPSETS = { "": 20, "com.microsoft": 1 };
const IR_VERSION = 9;

/** TensorProto.DataType */
const DATA_TYPE: Record<ElementType, number> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
};

/** AttributeProto.AttributeType */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, ints: 7 };

export function onnxBytes(graph: Graph): Uint8Array<ArrayBuffer> {
  const names = new Map([...graph.outputs].map(([name, value]) => [value, name]));
  const nameOf = (value: Value) => names.get(value) ?? value.name;
  const body = new Message();
  const nodes = inOrder(graph);
  const read = new Set(nodes.flatMap((node) => node.inputs));
  for (const node of nodes) body.message(1, nodeProto(node, nameOf));
  body.text(2, "joust");
  for (const [value, constant] of graph.constants) {
    if (read.has(value)) body.message(5, tensorProto(value, constant));
  }
  for (const input of graph.inputs) body.message(11, valueInfo(input.name, input));
  for (const [name, value] of graph.outputs) body.message(12, valueInfo(name, value));

  const model = new Message().integer(1, IR_VERSION).text(2, "joust").message(7, body);
  for (const [domain, version] of Object.entries(OPSETS)) {
    model.message(8, new Message().text(1, domain).integer(2, version));
  }
  return model.bytes();
}

/**
 * Returns the nodes that the outputs need. Nodes that no other node reads come
 * last, in reverse order: onnxruntime first runs everything that the last node
 * needs, then the rest of what the previous one needs, and so on. So the gradients
 * of the last layer are computed, and their memory freed, before the layer below.
 */
function inOrder(graph: Graph): Node[] {
  const read = new Set<Value>();
  const wanted = new Set(graph.outputs.values());
  const inner: Node[] = [];
  const leaves: Node[] = [];
  for (const node of graph.nodes.toReversed()) {
    const isRead = node.outputs.some((output) => read.has(output));
    if (!isRead && !node.outputs.some((output) => wanted.has(output))) continue;
    for (const input of node.inputs) read.add(input);
    (isRead ? inner : leaves).push(node);
  }
  return [...inner.reverse(), ...leaves];
}

function nodeProto(node: Node, nameOf: (value: Value) => string): Message {
  const message = new Message();
  for (const input of node.inputs) message.text(1, nameOf(input));
  for (const output of node.outputs) message.text(2, nameOf(output));
  message.text(3, node.outputs[0]!.name).text(4, node.op);
  for (const [name, attribute] of Object.entries(node.attributes)) {
    message.message(5, attributeProto(name, attribute));
  }
  return message.text(7, node.domain);
}

function attributeProto(name: string, value: Attribute): Message {
  const message = new Message().text(1, name);
  if (typeof value === "number") return message.integer(3, value).integer(20, ATTRIBUTE_TYPE.int);
  if (typeof value === "string") return message.text(4, value).integer(20, ATTRIBUTE_TYPE.string);
  if ("float" in value) return message.float(2, value.float).integer(20, ATTRIBUTE_TYPE.float);
  for (const element of value) message.integer(8, element);
  return message.integer(20, ATTRIBUTE_TYPE.ints);
}

function tensorProto(value: Value, { dims, data }: Constant): Message {
  const message = new Message();
  for (const dim of dims) message.integer(1, dim);
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message.integer(2, DATA_TYPE[value.type]).text(8, value.name).raw(9, bytes);
}

function valueInfo(name: string, { type, dims }: Value): Message {
  const shape = new Message();
  for (const dim of dims) shape.message(1, dimension(dim));
  const tensor = new Message().integer(1, DATA_TYPE[type]).message(2, shape);
  return new Message().text(1, name).message(2, new Message().message(1, tensor));
}

function dimension(dim: Dim): Message {
  return typeof dim === "number" ? new Message().integer(1, dim) : new Message().text(2, dim);
}

/** A protobuf message. Wire types: 0 varint, 2 length and bytes, 5 four bytes. */
class Message {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  integer(field: number, value: number): this {
    return this.#push(varint(field << 3)).#push(varint(value));
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#push(varint((field << 3) | 5)).#push(bytes);
  }

  text(field: number, value: string): this {
    return this.raw(field, new TextEncoder().encode(value));
  }

  raw(field: number, bytes: Uint8Array): this {
    return this.#push(varint((field << 3) | 2))
      .#push(varint(bytes.length))
      .#push(bytes);
  }

  message(field: number, message: Message): this {
    this.#push(varint((field << 3) | 2)).#push(varint(message.#length));
    for (const chunk of message.#chunks) this.#push(chunk);
    return this;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      out.set(chunk, at);
      at += chunk.length;
    }
    return out;
  }

  #push(chunk: Uint8Array): this {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this;
  }
}

/** Seven bits per byte, lowest first. A negative number is written as 64-bit two's complement. */
function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
