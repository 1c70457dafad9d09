import { describe, expect, it } from "vitest";
import { finalTable } from "./exhibits.ts";
import { drawCompact } from "./figures/compact.ts";
import { heatMapsSvg, largest } from "./figures/heat-map.ts";
import { byEncoder } from "./figures/style.ts";
import { titled } from "./figures/titled.ts";
import { caveatsOf } from "./page.ts";
import { CURVE, newBench, resultsOf, runValue } from "./results.fixture.ts";

describe("what is to be read before any number", () => {
  const plan = () => Promise.reject(new Error("planned already"));
  const experiment = { name: "mixinstruct", title: "MixInstruct", plan };
  const part = { experiment, notes: [], exhibits: [] };

  it("names what stands in for the paper's data, and which encoders were not run", () => {
    const absent = [{ name: "e5b", reason: "its weights are not here" }];
    expect(caveatsOf({ parts: [{ ...part, standIn: "other prompts" }] }, { absent })).toEqual([
      "In place of the paper's data: for MixInstruct other prompts.",
      "Encoders of the paper that were not run: e5b (its weights are not here).",
    ]);
    expect(caveatsOf({ parts: [part] }, { absent: [] })).toEqual([]);
  });
});

describe("a figure as a file", () => {
  const svg = heatMapsSvg("0.05 of it", [
    { title: "a", rows: ["x"], columns: ["y"], values: [[0.125]], outlined: [[0]] },
  ]);
  const sideOf = (text: string, side: string) =>
    Number(text.match(new RegExp(` ${side}="([\\d.]+)"`))![1]);

  it("has its title above all that it had, and room for it", () => {
    const title = `${"a long title ".repeat(12)}<&>`;
    const file = titled(svg, title);
    expect(file).toContain("&#60;&#38;&#62;</text>");
    expect(sideOf(file, "height")).toBe(sideOf(svg, "height") + 30);
    expect(sideOf(file, "width")).toBeGreaterThan(6 * title.length);
    expect(file.endsWith(svg.slice(svg.indexOf(">") + 1))).toBe(true);
  });

  it("is compact in its coordinates, not in its words", () => {
    expect(svg).toContain('aria-label="0.05 of it"');
    expect(drawCompact("0.123", { width: 100.06, marks: [] })).toContain('width="100.1"');
  });

  it("outlines the largest of each row, all where several are", () => {
    expect(
      largest([
        [1, 3, 2],
        [2, 2, 1],
      ]),
    ).toEqual([[1], [0, 1]]);
    expect(svg).toContain('stroke="#d55e00"');
  });

  it("of several encoders has one color for each", () => {
    const curves = ["MiniLM", "e5b"].flatMap((encoder) =>
      ["excel_perf_cost", "excel_mask"].map((weighting) => ({ ...CURVE, encoder, weighting })),
    );
    const styles = curves.map(byEncoder(curves));
    expect(new Set(styles.map(({ color }) => color)).size).toBe(2);
    expect(new Set(styles.map(({ color, dash }) => color + dash)).size).toBe(4);
  });
});

describe("a table of curves", () => {
  it("has the longest of a curve that was run at two lengths", async () => {
    const head = { name: "random", policy: "random", group: "baseline" } as const;
    const results = resultsOf(await newBench(), [
      { curve: head, runs: [runValue(200, () => 1)] },
      { curve: { ...head, encoder: "static" }, runs: [runValue(100, () => 1)] },
    ]);
    const { curves } = results.bench;
    const drawing = finalTable("t", "T", { curves, rounds: [100, 200] }).draw(results);
    if (drawing.kind !== "table") throw new Error("not a table");
    expect(drawing.table.rows).toHaveLength(1);
    expect(drawing.table.rows[0]!.slice(3, 5)).toMatchObject([{ mean: 100 }, { mean: 200 }]);
  });
});
