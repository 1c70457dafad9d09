import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf, toFloat32, vectorOf } from "./vector.ts";

describe("x as it is logged", () => {
  it("loses nothing once it is rounded", () => {
    fc.assert(
      fc.property(fc.float64Array({ noNaN: true, min: -1e30, max: 1e30 }), (x) => {
        const rounded = toFloat32(x);
        expect(vectorOf(bytesOf(rounded))).toEqual(rounded);
        // Also out of the middle of something larger, as a database gives it.
        const inside = Buffer.concat([Buffer.of(0), bytesOf(rounded)]).subarray(1);
        expect(vectorOf(inside)).toEqual(rounded);
      }),
      { seed: 1 },
    );
  });

  it("is refused where it was not rounded", () => {
    expect(() => bytesOf(Float64Array.of(0.5, 0.1))).toThrow(/x\[1\] = 0.1 .*help: decide by/);
  });
});
