import { describe, expect, it } from "vitest";
import { claimsTable, summaryOf } from "./claims-report.ts";
import type { Claim } from "./experiment.ts";
import { type Cell, decide, decideAny, decideEach, minus, untestable } from "./verdict.ts";

describe("verdicts", () => {
  const clear = (sign: number) => ({ label: "", differences: [1, 1.1, 0.9].map((d) => sign * d) });
  const open = { label: "", differences: [1, -1, 0] };

  it("a claim holds if two thirds of its cells lie beyond chance on its side", () => {
    expect(decide([clear(-1), clear(-1), open])).toMatchObject({ verdict: "holds" });
    expect(decide([clear(-1), open, open]).verdict).toBe("does not hold");
    expect(decide([clear(1), clear(1), clear(1)]).evidence).toBe(
      "shown in 0 of 3 cells, the opposite in 3; difference of regret (below 0: for the claim) 1.0 on average over cells, whose means go from 1.0 to 1.0",
    );
    expect(decide([clear(1), clear(1), open]).refuted).toBe(true);
    expect(decide([clear(1), open, open]).refuted).toBe(false);
    expect(decide([clear(-1)]).refuted).toBeUndefined();
    expect(decide([clear(-1), open]).cells.map(({ supports }) => supports)).toEqual([true, false]);
  });

  it("are also counted by vote scale and metadata, if cells differ in them", () => {
    const cell = (voteScale: number, metadata: string, sign: number) => ({
      ...clear(sign),
      voteScale,
      metadata,
    });
    const cells = [cell(1, "none", 1), cell(1, "raw", 1), cell(10, "none", -1)];
    expect(decide(cells).evidence).toMatch(
      /^shown in 1 of 3 cells \(scale 1: 0 of 2; 10: 1 of 1; metadata none: 1 of 2; raw: 0 of 1\), the/,
    );
    expect(decide(cells.slice(0, 1)).evidence).toMatch(/^shown in 0 of 1 cell, /);
  });

  it("a claim of parts holds if each does, however many cells the others have", () => {
    const parts = (second: Cell) => [
      { name: "a", cells: [clear(-1), clear(-1), clear(-1)] },
      { name: "b", cells: [second] },
    ];
    expect(decideEach(parts(clear(-1))).verdict).toBe("holds");
    expect(decideEach(parts(open))).toMatchObject({ verdict: "does not hold", refuted: false });
    expect(decideEach(parts(clear(1))).refuted).toBe(true);
    expect(decideEach([...parts(clear(-1)), { name: "c", cells: [] }])).toEqual(decide([]));
  });

  it("a part that fails decides, even if others cannot be tested", () => {
    const none = { name: "b", cells: [] };
    const failing = decideEach([{ name: "a", cells: [clear(1)] }, none]);
    expect(failing).toMatchObject({ verdict: "does not hold", refuted: true });
    expect(failing.evidence).toContain("b: no curve here tests it");
    expect(decideEach([{ name: "a", cells: [open] }, none]).refuted).toBe(false);
  });

  it("a claim for which one part is enough is refuted only if every part is", () => {
    const parts = (...cells: Cell[]) => cells.map((cell, i) => ({ name: `${i}`, cells: [cell] }));
    expect(decideAny(parts(clear(1), clear(-1)))).toMatchObject({ verdict: "holds" });
    expect(decideAny(parts(clear(1), open)).refuted).toBe(false);
    expect(decideAny(parts(clear(1), clear(1))).refuted).toBe(true);
    // A part that was not run does not count.
    const none = { name: "none", cells: [] };
    expect(decideAny([...parts(clear(1)), none])).toEqual(decideAny(parts(clear(1))));
    expect(decideAny([none])).toEqual(decide([]));
  });

  it("one run, or no cell, decides nothing", () => {
    expect(decide([])).toEqual(untestable("no curve here tests it"));
    expect(decide([{ label: "", differences: [-1] }]).evidence).toMatch("give --runs 5");
  });

  it("NaN decides nothing, and different numbers of runs are not paired", () => {
    const broken = { label: "one", differences: [-1, Number.NaN, -1] };
    expect(decide([clear(-1), clear(-1), broken])).toEqual(
      untestable("a run of one has no number to compare"),
    );
    expect(() => minus([1, 2], [1])).toThrow("cannot pair 2 runs with 1");
  });

  it("intervals are Student's over the runs: 2.776 standard errors at five", () => {
    const [cell] = decide([{ label: "", differences: [1, 2, 3, 4, 5] }]).cells;
    // s = sqrt(2.5), standard error s / sqrt(5) = 0.7071
    expect(cell!.hi).toBeCloseTo(3 + 2.776445 * Math.SQRT1_2, 5);
    expect(cell!.lo).toBeCloseTo(3 - 2.776445 * Math.SQRT1_2, 5);
  });

  it("are counted in a summary that warns of few runs", () => {
    const claim = (id: number) => ({ id }) as Claim;
    const judged = [
      { claim: claim(2), ...decide([clear(-1)]) },
      { claim: claim(1), ...decide([clear(1)]) },
      { claim: claim(4), ...decide([open]) },
      { claim: claim(3), ...decide([]) },
    ];
    expect(summaryOf(judged, 5)).toBe(
      "Of 4 claims 1 holds here (2); 1 is refuted, its opposite being shown (1); 1 is not shown either way (4); 1 cannot be tested here (3).",
    );
    expect(summaryOf(judged, 3)).toMatch("rests on 3 runs");
    expect(summaryOf(judged, 1)).toMatch("rests on one run, which has no intervals");
    expect(summaryOf(judged.slice(3), 5)).toMatch("; 1 cannot be tested here (the others).");
    expect(claimsTable(judged).rows.map(([id]) => id)).toEqual(["1", "2", "3", "4"]);
  });
});
