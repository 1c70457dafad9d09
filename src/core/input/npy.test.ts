import { expect, it } from "vitest";
import { temporaryFolder } from "./folder.fixture.ts";
import { readNpy } from "./npy.ts";

const write = temporaryFolder();

/** Returns the bytes that numpy.save writes, with the parts that may be wrong as arguments. */
function npy(values: Float32Array | Float64Array, shape: string, change: Partial<Header> = {}) {
  const { descr, order, version }: Header = {
    descr: values instanceof Float32Array ? "<f4" : "<f8",
    order: "False",
    version: 1,
    ...change,
  };
  const lengthBytes = version === 1 ? 2 : 4;
  const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape}), }`;
  const padded = `${text.padEnd(127 - 8 - lengthBytes)}\n`;
  const head = Buffer.alloc(8 + lengthBytes);
  head.write("\x93NUMPY", "latin1");
  head[6] = version;
  head.writeUIntLE(padded.length, 8, lengthBytes);
  return Buffer.concat([head, Buffer.from(padded), new Uint8Array(values.buffer)]);
}

interface Header {
  readonly descr: string;
  readonly order: string;
  readonly version: number;
}

const SIX = [1, -2, 0.5, 4, 5, 6];
const ROWS = [new Float64Array([1, -2, 0.5]), new Float64Array([4, 5, 6])];

it.each([
  ["float32", npy(Float32Array.from(SIX), "2, 3")],
  ["float64", npy(Float64Array.from(SIX), "2, 3")],
  ["version 2", npy(Float32Array.from(SIX), "2, 3", { version: 2 })],
])("reads a matrix of %s", async (_, bytes) => {
  expect(await readNpy(write("good.npy", bytes))).toEqual(ROWS);
});

const f4 = Float32Array.from(SIX);
it.each([
  ["text", Buffer.from("id,embedding and so on"), /is not a .npy file/],
  ["nothing", Buffer.alloc(0), /is not a .npy file/],
  ["integers", npy(f4, "2, 3", { descr: "<i4" }), /holds <i4/],
  ["big-endian numbers", npy(f4, "2, 3", { descr: ">f4" }), /holds >f4/],
  ["columns first", npy(f4, "2, 3", { order: "True" }), /column \(Fortran\) order/],
  ["a vector", npy(f4, "6,"), /has shape \(6\), not rows x columns/],
  ["a cube", npy(f4, "1, 2, 3"), /has shape \(1, 2, 3\)/],
  ["too few numbers", npy(f4, "3, 3"), /has 24 bytes of numbers, but 3 x 3 <f4 take 36/],
  ["too many numbers", npy(f4, "1, 3"), /has 24 bytes of numbers, but 1 x 3 <f4 take 12/],
])("rejects %s", async (_, bytes, message) => {
  await expect(readNpy(write("bad.npy", bytes))).rejects.toThrow(message);
});

it("rejects a missing file", async () => {
  await expect(readNpy("no-such.npy")).rejects.toThrow(/no-such.npy: does not exist/);
});
