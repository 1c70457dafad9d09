import { describe, expect, it } from "vitest";
import { Pacer } from "./pacer.ts";

describe("Pacer", () => {
  it("raises the price while spending is above the budget and lowers it otherwise", () => {
    const pacer = new Pacer(1);
    for (let i = 0; i < 100; i++) pacer.spend(2);
    const high = pacer.lambda;
    expect(high).toBeGreaterThan(1);
    for (let i = 0; i < 1000; i++) pacer.spend(0.5);
    expect(pacer.lambda).toBeLessThan(high);
    expect(new Pacer(1, pacer.snapshot()).lambda).toBe(pacer.lambda);
  });

  it("keeps the mean cost at the budget if the price decides what is bought", () => {
    const pacer = new Pacer(1);
    let spent = 0;
    const rounds = 3000;
    for (let i = 0; i < rounds; i++) {
      const cost = 2.5 / (1 + pacer.lambda);
      spent += cost;
      pacer.spend(cost);
    }
    expect(spent / rounds).toBeCloseTo(1, 1);
  });

  it("rejects a budget of 0", () => {
    expect(() => new Pacer(0)).toThrow(/budget must be above 0/);
  });
});
