import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorText } from "../../../errors/error-text.fixture.ts";
import { temporaryFolder } from "../../../input/folder.fixture.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "./safetensors.ts";
import { type RawTensor, safetensorsBytes } from "./tiny-model.fixture.ts";

const write = temporaryFolder();
const folder = join(write("x", ""), "..");

const f32 = (dims: number[], ...values: number[]): Tensor => ({
  dims,
  data: Float32Array.from(values),
});
const TWO = new Map([
  ["a", f32([2, 2], 1, -2, 0.5, 4)],
  ["b", f32([3], 5, 6, 7)],
]);

describe("reads", () => {
  it.each([0, 1, 2, 3, 5])("float32, with a header padded by %i spaces", async (padding) => {
    const file = write("plain.safetensors", safetensorsBytes(TWO, { padding }));
    const { tensors, others } = await readSafetensors(file);
    expect(tensors).toEqual(TWO);
    expect(others).toEqual(new Map());
  });

  it("float32 as views of one buffer, without a copy", async () => {
    const file = write("views.safetensors", safetensorsBytes(TWO, { padding: 3 }));
    const { tensors } = await readSafetensors(file);
    expect(tensors.get("a")!.data.buffer).toBe(tensors.get("b")!.data.buffer);
  });

  it("a float32 tensor at an odd byte", async () => {
    const odd = new Map<string, Tensor | RawTensor>([
      ["flag", { dtype: "BOOL", dims: [1], data: Uint8Array.of(1) }],
      ...TWO,
    ]);
    const { tensors } = await readSafetensors(write("odd.safetensors", safetensorsBytes(odd)));
    expect(tensors).toEqual(TWO);
  });

  it("a scalar, an empty tensor and no tensor", async () => {
    const few = new Map([
      ["scalar", f32([], 3)],
      ["none", f32([0, 4])],
    ]);
    const read = await readSafetensors(write("few.safetensors", safetensorsBytes(few)));
    expect(read.tensors).toEqual(few);
    const empty = await readSafetensors(write("empty.safetensors", safetensorsBytes(new Map())));
    expect(empty.tensors.size).toBe(0);
  });

  it("every float16, as the format is defined", async () => {
    // Compared with arithmetic: a number is its fraction times a power of two.
    const all = Uint16Array.from({ length: 0x10000 }, (_, i) => i);
    const half = new Map([["h", { dtype: "F16", dims: [0x10000], data: all }]]);
    const { tensors } = await readSafetensors(write("half.safetensors", safetensorsBytes(half)));
    const { data } = tensors.get("h")!;
    expect([data[0x3c00], data[0xc000], data[0x7bff], data[0x0001], data[0x03ff]]).toEqual([
      1,
      -2,
      65504,
      2 ** -24,
      1023 * 2 ** -24,
    ]);
    expect([data[0x7c00], data[0xfc00], data[0x7e00]]).toEqual([Infinity, -Infinity, Number.NaN]);
    expect(Object.is(data[0x8000], -0)).toBe(true);
    // From zero to infinity the numbers grow with their bits, in steps that double every 1024.
    const upTo = data.subarray(0, 0x7c00);
    expect(upTo.every((value, bits) => value < data[bits + 1]!)).toBe(true);
    expect(upTo.every((value, bits) => bits < 0x800 || value === 2 * data[bits - 0x400]!)).toBe(
      true,
    );
    expect(upTo.every((value, bits) => data[bits | 0x8000] === -value)).toBe(true);
  });

  it("bfloat16 as a float32 whose lower half is zero", async () => {
    const numbers = Float32Array.of(1, -2.5, 3.140625, 2 ** -130, Infinity);
    const bits = new Uint32Array(numbers.buffer);
    const upper = Uint16Array.from(bits, (word) => word >>> 16);
    const file = new Map([["b", { dtype: "BF16", dims: [5], data: upper }]]);
    const read = await readSafetensors(write("bf.safetensors", safetensorsBytes(file)));
    expect(read.tensors.get("b")!.data).toEqual(Float32Array.from(bits, (_, i) => back(upper[i]!)));
    expect(read.tensors.get("b")!.data.slice(0, 3)).toEqual(numbers.slice(0, 3));
  });

  it("other types only as names and types", async () => {
    const ids = BigInt64Array.of(0n, 1n, 2n);
    const mixed = new Map<string, Tensor | RawTensor>([
      ["position_ids", { dtype: "I64", dims: [1, 3], data: ids }],
      ...TWO,
    ]);
    const read = await readSafetensors(write("mixed.safetensors", safetensorsBytes(mixed)));
    expect(read.tensors).toEqual(TWO);
    expect(read.others).toEqual(new Map([["position_ids", "I64"]]));
  });
});

/** Computes the value of a bfloat16 with arithmetic. */
function back(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits);
  return view.getFloat32(0);
}

describe("writes", () => {
  it("any names, shapes and numbers, and reads them bit for bit", async () => {
    const tensor = fc.array(fc.nat({ max: 4 }), { maxLength: 3 }).chain((dims) => {
      const length = dims.reduce((product, dim) => product * dim, 1);
      const data = fc.array(fc.float(), { minLength: length, maxLength: length });
      return data.map((values) => f32(dims, ...values));
    });
    const name = fc.string({ unit: "grapheme" }).filter((text) => text !== "__metadata__");
    const tensors = fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(tensors, async (entries) => {
        const file = join(folder, `property-${count++}.safetensors`);
        await writeSafetensors(file, new Map(entries));
        const read = await readSafetensors(file);
        expect(read.tensors).toEqual(new Map(entries));
        const bytes = await readFile(file);
        expect(Number(bytes.readBigUInt64LE()) % 8).toBe(0); // tensors are aligned
      }),
      { seed: 4, numRuns: 40 },
    );
  });

  it("the mark of PyTorch, which its readers require", async () => {
    const file = join(folder, "written.safetensors");
    await writeSafetensors(file, TWO);
    const bytes = await readFile(file);
    const header = JSON.parse(bytes.toString("utf8", 8, 8 + Number(bytes.readBigUInt64LE())));
    expect(header.__metadata__).toEqual({ format: "pt" });
  });

  it("never over an existing file", async () => {
    const file = write("there.safetensors", "precious");
    await expect(writeSafetensors(file, TWO)).rejects.toThrow(errorText(/EEXIST/));
    expect(await readFile(file, "utf8")).toBe("precious");
  });
});

describe("rejects", () => {
  const whole = safetensorsBytes(TWO);
  type Change = Parameters<typeof safetensorsBytes>[1];
  const changed = (change: NonNullable<NonNullable<Change>["change"]>) =>
    safetensorsBytes(TWO, { change });
  const first = (bytes: number) => {
    const out = Buffer.from(whole);
    out.writeBigUInt64LE(BigInt(bytes));
    return out;
  };
  it.each<[string, Uint8Array, RegExp]>([
    ["nothing", Buffer.alloc(0), /has 0 bytes, too few/],
    [
      "a file truncated in its header",
      whole.subarray(0, 40),
      /ends within its header: it has 40 bytes/,
    ],
    [
      "a file truncated in its tensors",
      whole.subarray(0, -1),
      /"b": ends at byte 28 of 27: the file is cut short/,
    ],
    [
      "bytes after the last tensor",
      Buffer.concat([whole, Buffer.alloc(4)]),
      /has 4 bytes after its last tensor/,
    ],
    [
      "another format",
      Buffer.from("PK\x03\x04 a zip file, as torch.save writes"),
      /is not a safetensors file/,
    ],
    ["a header of impossible length", first(2 ** 40), /is not a safetensors file/],
    ["a header that is not JSON", first(10), /is not JSON/],
    ["a header that is a list", changed(() => []), /is \[\], not of type record/],
    [
      "an entry without offsets",
      changed(({ a }) => ({ a: { ...a, data_offsets: undefined } })),
      /"data_offsets": is missing/,
    ],
    [
      "a negative offset",
      changed(({ a, b }) => ({ a: { ...a, data_offsets: [-16, 0] }, b })),
      /data_offsets\[0\]": is -16, below 0/,
    ],
    [
      "an offset beyond the file",
      changed(({ a, b }) => ({ a, b: { ...b, data_offsets: [16, 2 ** 40] } })),
      /"b": ends at byte 1099511627776 of 28/,
    ],
    [
      "overlapping tensors",
      changed(({ a, b }) => ({ a, b: { ...b, data_offsets: [12, 24] } })),
      /"b": is at bytes 12 to 24, which overlaps/,
    ],
    [
      "a gap",
      changed(({ b }) => ({ b })),
      /"b": is at bytes 16 to 28, which leaves bytes before it unused/,
    ],
    [
      "an end before the start",
      changed(({ a, b }) => ({ a, b: { ...b, data_offsets: [16, 12] } })),
      /"b": is at bytes 16 to 12, which ends before it begins/,
    ],
    [
      "a shape that the bytes do not fit",
      changed(({ a, b }) => ({ a: { ...a, shape: [2, 3] }, b })),
      /"a": has 16 bytes, but F32 \[2, 3\] takes 24/,
    ],
  ])("%s", async (_, bytes, message) => {
    const file = write("bad.safetensors", bytes);
    await expect(readSafetensors(file)).rejects.toThrow(errorText(message));
    await expect(readSafetensors(file)).rejects.toThrow(errorText(file));
  });

  it("a file truncated anywhere, without reading past its end", async () => {
    for (let length = 0; length < whole.length; length += 7) {
      const file = write("cut.safetensors", whole.subarray(0, length));
      await expect(readSafetensors(file)).rejects.toThrow(errorText(/hint: .*again/));
    }
  });

  it("a file that does not exist", async () => {
    expect(existsSync(join(folder, "none"))).toBe(false);
    await expect(readSafetensors(join(folder, "none"))).rejects.toThrow(
      errorText(/does not exist/),
    );
  });
});
