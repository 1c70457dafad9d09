import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { bytesOf, toFloat32, vectorOf } from "./vector.ts";

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
