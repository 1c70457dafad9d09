import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { norm } from "./linalg.ts";
import { minimize } from "./minimize.ts";

describe("minimize", () => {
  it("finds the minimum of ill-conditioned quadratics", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 2, maxLength: 8 }),
        (center) => {
          const x = new Float64Array(center.length);
          minimize(
            (at, gradient) => {
              let value = 0;
              for (let i = 0; i < at.length; i++) {
                const weight = 10 ** (i % 4);
                value += (weight * (at[i]! - center[i]!) ** 2) / 2;
                gradient[i] = weight * (at[i]! - center[i]!);
              }
              return value;
            },
            x,
            200,
          );
          expect(norm(x.map((value, i) => value - center[i]!))).toBeLessThan(1e-4);
        },
      ),
      { seed: 1, numRuns: 100 },
    );
  });

  it("finds the minimum of Rosenbrock's function", () => {
    const x = Float64Array.of(-1.2, 1);
    minimize(
      (at, gradient) => {
        const [a, b] = [at[0]!, at[1]!];
        gradient[0] = -2 * (1 - a) - 400 * a * (b - a * a);
        gradient[1] = 200 * (b - a * a);
        return (1 - a) ** 2 + 100 * (b - a * a) ** 2;
      },
      x,
      200,
    );
    expect(x[0]).toBeCloseTo(1, 3);
    expect(x[1]).toBeCloseTo(1, 3);
  });

  it("stays where the gradient is 0", () => {
    const x = Float64Array.of(3);
    expect(minimize(() => 7, x, 10)).toBe(7);
    expect([...x]).toEqual([3]);
  });
});
