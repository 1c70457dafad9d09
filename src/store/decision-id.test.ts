import { describe, expect, it } from "vitest";
import { Random } from "../core/random/random.ts";
import {
  DAY_MS,
  dayOf,
  newDecisionId,
  sampleNumber,
  timeOfId,
  uniformSample,
} from "./decision-id.ts";

const NOW = Date.UTC(2026, 10, 16, 12);

describe("the id of a decision", () => {
  it("contains its time, sorts by it and is unique", () => {
    const ids = Array.from({ length: 1000 }, (_, i) => newDecisionId(NOW + i));
    expect(ids.map(timeOfId)).toEqual(ids.map((_, i) => NOW + i));
    expect([...ids].sort()).toEqual(ids);
    const same = Array.from({ length: 1000 }, () => newDecisionId(NOW));
    expect(new Set(same).size).toBe(1000);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("determines the day; for an id that contains no time, the time of the decision does", () => {
    const id = newDecisionId(NOW);
    expect(dayOf(id, NOW + 5 * DAY_MS)).toBe(Math.floor(NOW / DAY_MS));
    expect(dayOf(`${id}-judge`, 0)).toBe(Math.floor(NOW / DAY_MS));
    expect(dayOf("6f1c7c1e-3a51-4f3b-9a63-1f2d0a5b7c11", DAY_MS)).toBe(1);
  });

  it("is recognised only in the form in which it is made", () => {
    const id = "0199a3c4-5d6e-7f80-9a1b-2c3d4e5f6071";
    expect(timeOfId(id)).toBe(0x0199a3c45d6e);
    expect(sampleNumber(id)).toBe(0x2c3d4e5f6071 / 2 ** 48);
    for (const other of [
      id.toUpperCase(),
      id.slice(0, -1),
      id.replace("9a1b", "ca1b"),
      id.replaceAll("-", "_"),
      id.replace("5d6e", "5g6e"),
      "",
    ]) {
      expect([timeOfId(other), sampleNumber(other)]).toEqual([undefined, 0]);
    }
  });
});

describe("a sample", () => {
  const random = Random.seeded(1);
  const all = Array.from({ length: 20_000 }, (_, i) => {
    const isDuel = random.uniform() < 0.3;
    return { id: newDecisionId(NOW + i), isDuel, sample: isDuel ? 1 : 0.1 };
  });
  const stored = all.filter(({ id, sample }) => sampleNumber(id) < sample);

  it("contains everything that is always kept, and the right share of the rest", () => {
    const duels = all.filter(({ isDuel }) => isDuel).length;
    expect(stored.filter(({ isDuel }) => isDuel)).toHaveLength(duels);
    const rest = stored.length - duels;
    const expected = 0.1 * (all.length - duels);
    expect(Math.abs(rest - expected)).toBeLessThan(5 * Math.sqrt(expected));
  });

  it("can be thinned to one in which duels are as frequent as they were", () => {
    const uniform = uniformSample(stored);
    const share = uniform.filter(({ isDuel }) => isDuel).length / uniform.length;
    const truth = all.filter(({ isDuel }) => isDuel).length / all.length;
    expect(Math.abs(share - truth)).toBeLessThan(5 * Math.sqrt(0.21 / uniform.length));
    expect(uniform.length).toBeGreaterThan(1700);
    // Rows that a vote restored are not part of any sample.
    expect(uniformSample([{ id: newDecisionId(NOW), sample: 0 }])).toEqual([]);
  });
});
