import { describe, expect, it } from "vitest";
import { claimsTable, evidenceOf, summaryOf } from "./claims-report.ts";
import type { Claim } from "./experiment.ts";
import { runsText } from "./planner.ts";
import { byMetadata, type Cell, judgePart, judgeParts, minus, type Part } from "./verdict.ts";

describe("verdicts", () => {
  const clear = (sign: number): Cell => ({ label: "", runs: [1, 1.1, 0.9].map((d) => sign * d) });
  const open: Cell = { label: "", runs: [1, -1, 0] };
  const decide = (cells: readonly Cell[]) => judgeParts([{ cells }]);

  it("a claim holds if two thirds of its cells lie beyond chance on its side", () => {
    expect(decide([clear(-1), clear(-1), open]).verdict).toBe("holds");
    expect(decide([clear(-1), open, open]).verdict).toBe("open");
    expect(evidenceOf(decide([clear(1), clear(1), clear(1)]))).toBe(
      "0 of 3 cells for the claim, 3 against it; pooled difference of regret: 1.0 [0.8, 1.2], cells from 1.0 to 1.0; 3 runs per cell",
    );
    expect(decide([clear(1), clear(1), open]).verdict).toBe("refuted");
    expect(decide([clear(1), open, open]).verdict).toBe("open");
    const [part] = decide([clear(-1), open, clear(1)]).parts;
    expect(part!.cells.map(({ side }) => side)).toEqual(["for", "undecided", "against"]);
  });

  it("are also counted by vote scale and by metadata, and given for the cells without metadata and with it, if cells differ in them", () => {
    const cell = (voteScale: number, metadata: string, sign: number) => ({
      ...clear(sign),
      voteScale,
      metadata,
    });
    const cells = [cell(1, "none", -1), cell(1, "raw", 1), cell(10, "none", -1), cell(3, "raw", 1)];
    const finding = decide(cells);
    expect(finding.verdict).toBe("open");
    const evidence = evidenceOf(finding);
    expect(evidence).toMatch(
      /^2 of 4 cells for the claim \(scale 1: 1 of 2, 1 against; 10: 1 of 1; 3: 0 of 1, 1 against; metadata none: 2 of 2; raw: 0 of 2, 2 against\), 2 against it/,
    );
    expect(evidence).toMatch(
      /; without metadata alone: 2 of 2, pooled \u22121.0 \[.*\], holds; with it alone: 0 of 2, pooled 1.0 \[.*\], refuted$/,
    );
    expect(byMetadata(finding.parts[0]!)).toMatchObject({
      without: { verdict: "holds" },
      having: { verdict: "refuted" },
    });
    expect(evidenceOf(decide(cells.slice(0, 1)))).toMatch(
      /^1 of 1 cell for the claim; [^;]*; [^;]*$/,
    );
  });

  it("state the runs of cells that have different numbers of them", () => {
    const longer = { ...clear(-1), runs: [-1, -1.1, -0.9, -1, -1] };
    expect(evidenceOf(decide([clear(-1), longer]))).toContain("; 3 to 5 runs per cell");
  });

  it("a claim with several parts holds only if each part does, however many cells the parts have", () => {
    const parts = (second: Cell): Part[] => [
      { name: "a", cells: [clear(-1), clear(-1), clear(-1)] },
      { name: "b", cells: [second] },
    ];
    expect(judgeParts(parts(clear(-1))).verdict).toBe("holds");
    expect(judgeParts(parts(open)).verdict).toBe("open");
    expect(judgeParts(parts(clear(1))).verdict).toBe("refuted");
    expect(judgeParts([...parts(clear(-1)), { name: "c", cells: [] }]).verdict).toBe(
      "not testable here",
    );
  });

  it("a part that is refuted or open decides, even if others cannot be tested", () => {
    const none = { name: "b", cells: [] };
    const failing = judgeParts([{ name: "a", cells: [clear(1)] }, none]);
    expect(failing.verdict).toBe("refuted");
    expect(evidenceOf(failing)).toContain("b: no curve here tests it");
    expect(judgeParts([{ name: "a", cells: [open] }, none]).verdict).toBe("open");
  });

  it("a claim for which one part is enough is refuted only if every part is", () => {
    const parts = (...cells: Cell[]) => cells.map((cell, i) => ({ name: `${i}`, cells: [cell] }));
    const any = (all: readonly Part[]) => judgeParts(all, { enough: "some" });
    expect(any(parts(clear(1), clear(-1))).verdict).toBe("holds");
    expect(any(parts(clear(1), open)).verdict).toBe("open");
    expect(any(parts(clear(1), clear(1))).verdict).toBe("refuted");
    // A part that was not run does not count.
    const none = { name: "none", cells: [] };
    expect(any([...parts(clear(1)), none])).toEqual(any(parts(clear(1))));
    expect(any([none]).verdict).toBe("not testable here");
  });

  it("one run, or no cell, decides nothing", () => {
    expect(decide([])).toMatchObject({
      verdict: "not testable here",
      notes: ["no curve here tests it"],
    });
    const once = decide([{ label: "", runs: [-1] }]);
    expect(once.verdict).toBe("not testable here");
    expect(evidenceOf(once)).toMatch("give --runs 5");
  });

  it("NaN decides nothing, and curves with different numbers of runs are paired by the runs of both", () => {
    const broken = decide([clear(-1), clear(-1), { label: "one", runs: [-1, Number.NaN, -1] }]);
    expect(broken.verdict).toBe("not testable here");
    expect(evidenceOf(broken)).toBe("a run of one has no number to compare");
    expect(minus([5, 4, 3], [1, 2])).toEqual([4, 2]);
    expect(minus([5, 4], [1, 2, 3])).toEqual([4, 2]);
  });

  it("intervals are Student's over the runs: 2.776 standard errors at five", () => {
    const [cell] = judgePart({ cells: [{ label: "", runs: [1, 2, 3, 4, 5] }] }).cells;
    // s = sqrt(2.5), standard error s / sqrt(5) = 0.7071
    expect(cell!.hi).toBeCloseTo(3 + 2.776445 * Math.SQRT1_2, 5);
    expect(cell!.lo).toBeCloseTo(3 - 2.776445 * Math.SQRT1_2, 5);
  });

  it("on stand-ins are not verdicts on the claim", () => {
    const finding = judgeParts([{ cells: [clear(-1)] }], { missing: ["OpenAItext"] });
    expect(finding).toMatchObject({
      verdict: "not testable here",
      standIn: { for: ["OpenAItext"], verdict: "holds" },
    });
  });

  it("follow the rule of their part", () => {
    const verdict = (rule: Part["rule"], cells: readonly Cell[], margin?: number) =>
      judgePart({ rule, cells, ...(margin !== undefined && { margin }) } as Part).verdict;
    expect(verdict("bound", [clear(1)])).toBe("open");
    const sure = { label: "", runs: [-1, -1.001, -0.999, -1] };
    expect(verdict("exception", [sure, clear(1), clear(1), clear(1)])).toBe("holds");
    expect(verdict("two thirds", [sure, clear(1), clear(1), clear(1)])).toBe("refuted");
    const small = { label: "", runs: [0.01, -0.01, 0] };
    expect(verdict("equivalence", [small], 0.05)).toBe("holds");
    expect(verdict("equivalence", [small], 0.01)).toBe("open");
    expect(verdict("equivalence", [clear(1)], 0.05)).toBe("refuted");
    expect(verdict("number", [{ label: "", runs: [-0.1] }])).toBe("holds");
    expect(verdict("number", [{ label: "", runs: [0.1] }])).toBe("refuted");
  });

  it("are counted in a summary that warns of few runs and sets our own claims apart", () => {
    const claim = (id: number, ours = false) => ({ id, ours }) as Claim;
    const judged = [
      { claim: claim(2), ...decide([clear(-1)]) },
      { claim: claim(1), ...decide([clear(1)]) },
      { claim: claim(4), ...decide([open]) },
      { claim: claim(3), ...decide([]) },
    ];
    expect(summaryOf(judged, { runs: 5 })).toBe(
      "Of the paper's 4 claims 1 holds here (2); 1 is refuted (1); 1 is open (4); 1 cannot be tested here (3).",
    );
    expect(
      summaryOf([...judged, { claim: claim(5, true), ...decide([clear(1)]) }], { runs: 5 }),
    ).toMatch(/^Of the paper's 4 claims .* The result for claim 5, our own: refuted\.$/);
    expect(summaryOf(judged.slice(0, 1), { runs: 5 })).toBe(
      "Of the paper's 1 claims 1 holds here (2); none is refuted; none is open.",
    );
    expect(summaryOf(judged, { runs: 3 })).toMatch("rests on 3 runs");
    expect(summaryOf(judged, { runs: 1 })).toMatch("rests on one run, which has no intervals");
    const different = { runs: 5, runsOf: { unseen: 2, routerbench: 9 } };
    const few = { claim: claim(6), ...decide([{ label: "", runs: [1, 2] }]) };
    expect(summaryOf([...judged, few], different)).toMatch(
      "A part of it (claim 6) rests on 2 runs",
    );
    expect(runsText(different)).toBe("5; 2 of unseen; 9 of routerbench");
    expect(summaryOf(judged.slice(3), { runs: 5 })).toMatch(
      "; 1 cannot be tested here (the others).",
    );
    expect(claimsTable(judged).rows.map(([id]) => id)).toEqual(["1", "2", "3", "4"]);
  });
});
