/**
 * The safetensors format: the length of the header as a 64-bit little-endian
 * number, the header as JSON padded with spaces, then the bytes of the tensors
 * without gaps. Offsets are relative to the first byte after the header.
 */
import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { parseJson } from "../../../input/json.ts";
import { checkShape } from "../../../input/rows.ts";
import { readError } from "../../../input/text.ts";

/** A row-major array. */
export interface Tensor {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

export function zeros(dims: readonly number[]): Tensor {
  return { dims, data: new Float32Array(dims.reduce((product, dim) => product * dim, 1)) };
}

export function zerosLike(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { dims }]) => [name, zeros(dims)]));
}

export interface Safetensors {
  /** Tensors of type float32, float16 and bfloat16, converted to float32. */
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** Names and types of all others, mostly buffers of integers. Weights never have these types. */
  readonly others: ReadonlyMap<string, string>;
}

/**
 * Reads a file. float32 tensors are views of one buffer, others are converted. The
 * buffer starts with the first tensor, so that every float32 tensor is aligned,
 * which is not guaranteed in the file.
 */
export async function readSafetensors(file: string): Promise<Safetensors> {
  const handle = await open(file).catch((error: unknown) => {
    throw readError(file, error);
  });
  try {
    const { entries, begin, length } = await readHeader(handle, file);
    const bytes = new ArrayBuffer(length);
    await readFully(handle, new Uint8Array(bytes), begin);
    const tensors = new Map<string, Tensor>();
    const others = new Map<string, string>();
    for (const [name, { dtype, shape, data_offsets }] of entries) {
      const data = READERS[dtype]?.(bytes, ...data_offsets);
      if (data) tensors.set(name, { dims: shape, data });
      else others.set(name, dtype);
    }
    return { tensors, others };
  } catch (error) {
    throw readError(file, error);
  } finally {
    await handle.close();
  }
}

/** Writes the tensors as float32, in the given order. The file must not exist. */
export async function writeSafetensors(
  file: string,
  tensors: ReadonlyMap<string, Tensor>,
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  let end = 0;
  for (const [name, { dims, data }] of tensors) {
    header[name] = { dtype: "F32", shape: dims, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(8 * Math.ceil(json.length / 8), " ");
  json.copy(padded);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));

  const handle = await open(file, "wx");
  try {
    await handle.writeFile(length);
    await handle.writeFile(padded);
    for (const { data } of tensors.values()) {
      await handle.writeFile(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface Header {
  readonly entries: readonly (readonly [name: string, Entry])[];
  /** Position and length of the tensors' bytes in the file. */
  readonly begin: number;
  readonly length: number;
}

type Entry = z.infer<typeof ENTRY>;
const COUNT = z.number().int().nonnegative();
const ENTRY = z.object({
  dtype: z.string(),
  shape: z.array(COUNT),
  data_offsets: z.tuple([COUNT, COUNT]),
});
const HEADER = z.record(z.string(), z.unknown());

const LONGEST_HEADER = 100_000_000; // the limit of the safetensors library
const AGAIN = "the file is damaged or incomplete: copy or download it again";

async function readHeader(handle: FileHandle, file: string): Promise<Header> {
  const { size } = await handle.stat();
  const fail = (problem: string) => new InputError({ file }, problem, AGAIN);
  if (size < 8) throw fail(`has ${size} bytes, too few for a safetensors file`);
  const head = Buffer.alloc(8);
  await readFully(handle, head, 0);
  const headerLength = Number(head.readBigUInt64LE());
  const begin = 8 + headerLength;
  if (headerLength > LONGEST_HEADER) {
    throw new InputError(
      { file },
      `is not a safetensors file: its first bytes announce a header of ${headerLength} bytes`,
      "give a model.safetensors file; if it is one, copy or download it again",
    );
  }
  if (begin > size) {
    throw fail(`ends within its header: it has ${size} bytes, and the header alone takes ${begin}`);
  }
  const text = Buffer.alloc(headerLength);
  await readFully(handle, text, 8);
  const { __metadata__: _, ...named } = checkShape(
    { file },
    parseJson(file, text.toString("utf8"), AGAIN),
    HEADER,
    AGAIN,
  );
  const entries = Object.entries(named).map(
    ([name, entry]) => [name, checkShape({ file }, entry, ENTRY, AGAIN)] as const,
  );
  checkOffsets(file, entries, size - begin);
  return { entries, begin, length: size - begin };
}

/** Checks that every tensor has as many bytes as its shape takes, and that each byte belongs to one tensor. */
function checkOffsets(file: string, entries: Header["entries"], length: number): void {
  let end = 0;
  const inOrder = entries.toSorted(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
  for (const [name, { dtype, shape, data_offsets }] of inOrder) {
    const [from, to] = data_offsets;
    const place = { file, field: name };
    if (to > length) {
      throw new InputError(place, `ends at byte ${to} of ${length}: the file is cut short`, AGAIN);
    }
    if (from !== end || to < from) {
      const fault =
        from < end
          ? "overlaps the tensor before it"
          : from > end
            ? "leaves bytes before it unused"
            : "ends before it begins";
      throw new InputError(place, `is at bytes ${from} to ${to}, which ${fault}`, AGAIN);
    }
    const size = BYTES[dtype];
    const expected = shape.reduce((product, dim) => product * dim, size ?? 0);
    if (size !== undefined && to - from !== expected) {
      const type = `${dtype} [${shape.join(", ")}]`;
      throw new InputError(place, `has ${to - from} bytes, but ${type} takes ${expected}`, AGAIN);
    }
    end = to;
  }
  if (end !== length) {
    throw new InputError({ file }, `has ${length - end} bytes after its last tensor`, AGAIN);
  }
}

const BYTES: Readonly<Record<string, number>> = {
  ...{ BOOL: 1, U8: 1, I8: 1, I16: 2, U16: 2, F16: 2, BF16: 2 },
  ...{ I32: 4, U32: 4, F32: 4, I64: 8, U64: 8, F64: 8 },
};

/** Readers by type. All platforms of Node are little-endian, as the file is. */
const READERS: Readonly<
  Record<string, (bytes: ArrayBuffer, from: number, to: number) => Float32Array>
> = {
  F32: (bytes, from, to) =>
    from % 4 === 0
      ? new Float32Array(bytes, from, (to - from) / 4)
      : new Float32Array(bytes.slice(from, to)),
  F16: (bytes, from, to) => fromFloat16(halves(bytes, from, to)),
  BF16: (bytes, from, to) => {
    // bfloat16 is the upper half of a float32.
    const upper = halves(bytes, from, to);
    const bits = new Uint32Array(upper.length);
    for (let i = 0; i < upper.length; i++) bits[i] = upper[i]! << 16;
    return new Float32Array(bits.buffer);
  },
};

function halves(bytes: ArrayBuffer, from: number, to: number): Uint16Array {
  return from % 2 === 0
    ? new Uint16Array(bytes, from, (to - from) / 2)
    : new Uint16Array(bytes.slice(from, to));
}

/**
 * IEEE 754 binary16 has a sign, 5 exponent bits with bias 15 and 10 fraction bits;
 * binary32 has 8 exponent bits with bias 127 and 23 fraction bits. So the bits are
 * shifted by 13, which leaves the exponent 112 too small, and a multiplication
 * corrects it, for subnormal numbers too. Infinity and NaN have an exponent of ones
 * in both. A callback of Float32Array.from would take over ten times as long.
 */
function fromFloat16(numbers: Uint16Array): Float32Array {
  const bits = new Uint32Array(numbers.length);
  const out = new Float32Array(bits.buffer);
  for (let i = 0; i < bits.length; i++) {
    const half = numbers[i]!;
    const infinite = (half & 0x7c00) === 0x7c00 ? 0x7f800000 : 0;
    bits[i] = ((half & 0x8000) << 16) | ((half & 0x7fff) << 13) | infinite;
    if (infinite === 0) out[i]! *= 2 ** 112;
  }
  return out;
}

/** Repeats reads, because one read may return less than requested and at most 2 GiB. */
async function readFully(handle: FileHandle, out: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < out.length) {
    const length = Math.min(out.length - done, LARGEST_READ);
    const { bytesRead } = await handle.read(out, done, length, position + done);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    done += bytesRead;
  }
}

const LARGEST_READ = 2 ** 28;
