import fc from "fast-check";
import { expect, it } from "vitest";
import { DuelCap } from "./duel-cap.ts";

it("limits duels to their share of the requests from the first one on", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 500 }),
      (share, n) => {
        const cap = new DuelCap(share, 1);
        let duels = 0;
        for (let i = 0; i < n; i++) {
          const isDuel = cap.allows;
          cap.routed(isDuel);
          duels += Number(isDuel);
        }
        expect(duels).toBeLessThanOrEqual(share * (n + 5) + 1);
        expect(duels).toBeGreaterThanOrEqual(Math.floor(share * n) - 1);
      },
    ),
    { seed: 1 },
  );
});

it("limits second answers to their share of the cost", () => {
  const cap = new DuelCap(1, 0.25);
  let second = 0;
  let total = 0;
  for (let i = 0; i < 500; i++) {
    const isDuel = cap.allows;
    cap.routed(isDuel);
    const cost = isDuel ? 2 : 1;
    cap.spent(cost, isDuel ? 1 : 0);
    total += cost;
    second += Number(isDuel);
  }
  expect(second / total).toBeLessThan(0.26);
  expect(second / total).toBeGreaterThan(0.2);
});
