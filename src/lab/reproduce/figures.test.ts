import { describe, expect, it } from "vitest";
import { heatMapsSvg, outlineLargest } from "../report/heat-map.ts";
import { pointsSvg } from "../report/points.ts";
import { radarSvg } from "../report/radar.ts";
import { drawCompact } from "../report/svg.ts";
import { withTitle } from "../report/with-title.ts";
import { byEncoder } from "./line-styles.ts";
import { curvesFigure } from "./report-items.ts";
import { CURVE, newPlanner, resultsOf, runValue } from "./results.fixture.ts";

describe("figures", () => {
  it("have a panel for each vote scale, every curve's name, and the same bytes again", async () => {
    const joust = { name: "joust", policy: "joust", group: "baseline", voteScale: 1 } as const;
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newPlanner([], { runs: 2 }), [
      { curve: {}, runs },
      { curve: { voteScale: 1 }, runs },
      { curve: joust, runs: [runValue(100, () => 0.1)] },
    ]);
    const { curves } = results.planner;
    const event = { after: 50, text: "all change" };
    const item = curvesFigure({ id: "a", title: "A", caption: "", curves, event });
    const drawing = item.draw(results);
    const svg = drawing.kind === "figure" ? drawing.svg : "";
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    for (const text of ["vote scale 10", "vote scale 1<", "joust 10.0", `${CURVE.name} 55.0`]) {
      expect(svg).toContain(text);
    }
    expect(svg).toContain("mean of 2 runs, bands 95% intervals");
    expect(svg.match(/>all change</g)).toHaveLength(2);
    expect(item.draw(results)).toEqual(drawing);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("of maps, radars and points have no undefined numbers", () => {
    const rows = ["a", "b"];
    const map = {
      title: "one",
      note: "n",
      rows,
      columns: rows,
      cells: [
        { row: "a", column: "a", value: 1 },
        { row: "a", column: "b", value: -0.001 },
        { row: "b", column: "a", value: 0.5 },
        { row: "b", column: "b", value: Number.NaN },
      ],
    };
    const svg = heatMapsSvg("maps", [map, { ...map, title: "two" }]);
    expect(svg.match(/>0\.00</g)).toHaveLength(2); // no minus zero
    const radar = radarSvg({
      title: "r",
      axes: ["x", "y", "z"],
      models: [{ name: "m", values: [1, 0, 0.5] }],
    });
    const points = pointsSvg("p", {
      panels: [
        {
          title: "t",
          points: [
            [0, 1, 2],
            [3, -1, 0],
          ],
          category: [0, 1],
        },
      ],
      categories: rows,
      colors: ["#111111", "#222222"],
    });
    for (const text of [svg, radar, points]) expect(text).not.toMatch(/NaN|undefined/);
    expect(points.match(/<circle/g)).toHaveLength(2 + 2);
  });
});

describe("a figure as a file", () => {
  const svg = heatMapsSvg("0.05 of it", [
    {
      title: "a",
      rows: ["x"],
      columns: ["y"],
      cells: [{ row: "x", column: "y", value: 0.125, outlined: true }],
    },
  ]);
  const sideOf = (text: string, side: string) =>
    Number(text.match(new RegExp(` ${side}="([\\d.]+)"`))![1]);

  it("has its title above the figure", () => {
    const title = `${"a long title ".repeat(12)}<&>`;
    const file = withTitle(svg, title);
    expect(file).toContain("&#60;&#38;&#62;</text>");
    expect(sideOf(file, "height")).toBe(sideOf(svg, "height") + 30);
    expect(sideOf(file, "width")).toBeGreaterThan(6 * title.length);
    expect(file.endsWith(svg.slice(svg.indexOf(">") + 1))).toBe(true);
  });

  it("has short coordinates and unchanged texts", () => {
    expect(svg).toContain('aria-label="0.05 of it"');
    expect(drawCompact("0.123", { width: 100.06, marks: [] })).toContain('width="100.1"');
  });

  it("outlines the largest cells of each row", () => {
    const values = { x: [1, 3, 2], y: [2, 2, 1] };
    const cells = Object.entries(values).flatMap(([row, own]) =>
      own.map((value, c) => ({ row, column: `${c}`, value })),
    );
    const outlined = outlineLargest(cells).filter((cell) => cell.outlined);
    expect(outlined.map(({ row, column }) => row + column)).toEqual(["x1", "y0", "y1"]);
    expect(svg).toContain('stroke="#d55e00"');
  });

  it("has one color per encoder", () => {
    const curves = ["MiniLM", "e5b"].flatMap((encoder) =>
      ["excel_perf_cost", "excel_mask"].map((weighting) => ({ ...CURVE, encoder, weighting })),
    );
    const styles = curves.map(byEncoder(curves));
    expect(new Set(styles.map(({ color }) => color)).size).toBe(2);
    expect(new Set(styles.map(({ color, dash }) => color + dash)).size).toBe(4);
  });
});
