import { describe, expect, it } from "vitest";
import { curvesTable } from "./report-items.ts";
import { newPlanner, resultsOf, runValue } from "./results.fixture.ts";

describe("a table of curves", () => {
  it("has the number of runs of each curve", async () => {
    const run = runValue(100, () => 1);
    const results = resultsOf(await newPlanner(), [
      { curve: {}, runs: [run, run, run] },
      { curve: { policy: "best-theta", variant: "best theta" }, runs: [run] },
    ]);
    const drawing = curvesTable("t", "T", {
      curves: results.planner.curves,
      rounds: [100],
    }).draw(results);
    if (drawing.kind !== "table") throw new Error("not a table");
    const at = drawing.table.columns.findIndex(({ key }) => key === "runs");
    expect(drawing.table.rows.map((row) => row[at])).toEqual([3, 1]);
  });

  it("has one row per curve, and names a baseline with its vectors", async () => {
    const joust = { name: "joust", policy: "joust", group: "baseline", voteScale: 1 } as const;
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newPlanner(), [
      { curve: {}, runs },
      { curve: { voteScale: 1 }, runs },
      { curve: joust, runs: [runValue(100, () => 0.1)] },
    ]);
    const { curves } = results.planner;
    const drawing = curvesTable("t", "T", {
      curves: [...curves, ...curves],
      rounds: [50, 100],
    }).draw(results);
    if (drawing.kind !== "table") throw new Error("not a table");
    expect(drawing.table.rows).toHaveLength(3);
    expect(drawing.table.rows[2]![0]).toBe("joust on MiniLM_E4");
    expect(drawing.table.rows[0]![3]).toMatchObject({ mean: expect.closeTo(27.5, 9) });
  });

  it("has the number of rounds if the curves have different lengths", async () => {
    const results = resultsOf(await newPlanner(), [
      { curve: {}, runs: [runValue(200, () => 1)] },
      { curve: { name: "short" }, runs: [runValue(100, () => 1)] },
    ]);
    const { curves } = results.planner;
    const cellsOf = (curves: typeof results.planner.curves) => {
      const drawing = curvesTable("t", "T", { curves, rounds: [100] }).draw(results);
      if (drawing.kind !== "table") throw new Error("not a table");
      const at = drawing.table.columns.findIndex(({ key }) => key === "rounds");
      return drawing.table.rows.map((row) => row[at]);
    };
    expect(cellsOf(curves)).toEqual([200, 100]);
    expect(cellsOf(curves.slice(1))).toEqual([undefined]);
  });

  it("has the longest of the curves that differ in length only", async () => {
    const head = { name: "random", policy: "random", group: "baseline" } as const;
    const results = resultsOf(await newPlanner(), [
      { curve: head, runs: [runValue(200, () => 1)] },
      { curve: { ...head, encoder: "static" }, runs: [runValue(100, () => 1)] },
    ]);
    const { curves } = results.planner;
    const drawing = curvesTable("t", "T", { curves, rounds: [100, 200] }).draw(results);
    if (drawing.kind !== "table") throw new Error("not a table");
    expect(drawing.table.rows).toHaveLength(1);
    expect(drawing.table.rows[0]!.slice(3, 5)).toMatchObject([{ mean: 100 }, { mean: 200 }]);
  });
});
