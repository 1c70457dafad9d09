import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import {
  bytesOf,
  halfBytesOf,
  halfOf,
  packedBytesOf,
  toFloat32,
  toHalf,
  unpackedVector,
  valueOfHalf,
  vectorOf,
  vectorOfHalf,
} from "./vector.ts";

describe("logged vectors", () => {
  it("are restored exactly if they were rounded before", () => {
    fc.assert(
      fc.property(fc.float64Array({ noNaN: true, min: -1e30, max: 1e30 }), (x) => {
        const rounded = toFloat32(x);
        expect(vectorOf(bytesOf(rounded))).toEqual(rounded);
        // A database may return a slice that is not aligned.
        const unaligned = Buffer.concat([Buffer.of(0), bytesOf(rounded)]).subarray(1);
        expect(vectorOf(unaligned)).toEqual(rounded);
      }),
      { seed: 1 },
    );
  });

  it("are refused if they were not rounded", () => {
    expect(() => bytesOf(Float64Array.of(0.5, 0.1))).toThrow(
      errorText(/x\[1\] = 0.1 .*hint: round the vector/),
    );
  });
});

describe("half precision", () => {
  const numbers = fc.float64Array({ noNaN: true, min: -70_000, max: 70_000 });

  it("has the same bits with and without the engine's Float16Array", () => {
    for (let bits = 0; bits < 65_536; bits++) {
      const value = vectorOfHalf(Uint8Array.of(bits & 0xff, bits >> 8))[0]!;
      expect(Object.is(valueOfHalf(bits), value)).toBe(true);
      if (!Number.isNaN(value)) expect(halfOf(value)).toBe(bits);
    }
    fc.assert(
      fc.property(numbers, (x) => {
        const portable = Uint16Array.from(x, halfOf);
        expect(new Uint16Array(halfBytesOf(x).buffer)).toEqual(portable);
        expect([...toHalf(x)]).toEqual([...portable].map(valueOfHalf));
      }),
      { seed: 1 },
    );
  });

  it("is restored exactly, in two bytes per number", () => {
    fc.assert(
      fc.property(numbers, (x) => {
        const half = toHalf(x);
        expect(vectorOfHalf(halfBytesOf(half))).toEqual(half);
        if (half.every(Number.isFinite)) expect(unpackedVector(packedBytesOf(half))).toEqual(half);
        expect(halfBytesOf(half)).toHaveLength(2 * x.length);
      }),
      { seed: 2 },
    );
  });

  it("is used for stored decisions only if it is exact", () => {
    expect(packedBytesOf(Float64Array.of(0.5, 0.25))).toHaveLength(5);
    const single = Float64Array.of(0.5, Math.fround(0.1));
    expect(packedBytesOf(single)).toHaveLength(9);
    expect(unpackedVector(packedBytesOf(single))).toEqual(single);
  });
});
