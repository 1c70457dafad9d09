/** Reverse-mode differentiation: derives the backward pass from the forward pass. */
import { GRADIENTS } from "./gradients.ts";
import type { Graph, Node, Value } from "./graph.ts";

/**
 * Operators that the backward pass runs again, so that their results need not be
 * kept. They are cheap, and their inputs are kept anyway. For a layer of MiniLM
 * this keeps 3,800 numbers per token instead of 6,100.
 */
const CHEAP = new Set(["Gelu", "LayerNormalization"]);

/** Adds d loss / d value to the graph for each value in `wanted`. `loss` is a scalar. */
export function backward(graph: Graph, loss: Value, wanted: Iterable<Value>): Map<Value, Value> {
  const forward = [...graph.nodes];
  const again = recomputation(graph, forward);
  const leaves = new Set(wanted);
  const active = dependents(forward, leaves);
  const gradients = new Map([[loss, graph.scalar(1)]]);
  for (const node of forward.toReversed()) {
    const dys = node.outputs.map((output) => gradients.get(output));
    const [dy = dys.find((other) => other !== undefined)] = dys;
    if (!dy || !node.inputs.some((input) => active.has(input))) continue;
    const rule = GRADIENTS[node.op];
    if (!rule) throw new Error(`${node.op} has no gradient rule`);
    const parts = rule(graph, { ...node, inputs: node.inputs.map(again) }, dy, dys);
    for (const [i, input] of node.inputs.entries()) {
      if (!active.has(input)) continue;
      const part = parts[i]!();
      const sum = gradients.get(input);
      gradients.set(input, sum ? graph.add(sum, part) : part);
    }
  }
  return new Map([...leaves].map((leaf) => [leaf, gradients.get(leaf) ?? graph.zeros(leaf.dims)]));
}

/** Returns all values that depend on one of `leaves`. */
function dependents(nodes: readonly Node[], leaves: ReadonlySet<Value>): Set<Value> {
  const active = new Set(leaves);
  for (const { inputs, outputs } of nodes) {
    if (inputs.some((input) => active.has(input))) for (const y of outputs) active.add(y);
  }
  return active;
}

/** Returns a function that maps the result of a cheap operator to a recomputed copy, and other values to themselves. */
function recomputation(graph: Graph, nodes: readonly Node[]): (value: Value) => Value {
  const producers = new Map<Value, Node>();
  for (const node of nodes) {
    if (CHEAP.has(node.op)) producers.set(node.outputs[0]!, node);
  }
  const copies = new Map<Value, Value>();
  return (value) => {
    const known = copies.get(value);
    if (known) return known;
    const producer = producers.get(value);
    if (!producer) return value;
    const { op, inputs, outputs, attributes, domain } = producer;
    const [copy] = graph.node(op, inputs, outputs, attributes, domain);
    copies.set(value, copy!);
    return copy!;
  };
}
