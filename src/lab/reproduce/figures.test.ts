import { Resvg } from "@resvg/resvg-js";
import { describe, expect, it } from "vitest";
import { chartPicture } from "../report/chart.ts";
import { heatMapPicture, outlineLargest } from "../report/heat-map.ts";
import { pointsPicture } from "../report/points.ts";
import { radarPicture } from "../report/radar.ts";
import { colored, path, svgFile, textWidth } from "../report/svg.ts";
import type { Curve } from "./curve.ts";
import { namesIn, readableName, rowsOf, stylesOf } from "./curve-lines.ts";
import { curvesFigure } from "./report-items.ts";
import { CURVE, newPlanner, resultsOf, runValue } from "./results.fixture.ts";

describe("figures", () => {
  it("have a panel for each vote scale with the name and end of every curve, and the same bytes again", async () => {
    const joust = { name: "joust", policy: "joust", group: "baseline", voteScale: 1 } as const;
    const random = { name: "random", policy: "random", group: "baseline", voteScale: 1 } as const;
    const runs = [runValue(100, () => 0.5), runValue(100, () => 0.6)];
    const results = resultsOf(await newPlanner([], { runs: 2 }), [
      { curve: {}, runs },
      { curve: { voteScale: 1 }, runs },
      { curve: joust, runs: [runValue(100, () => 0.1)] },
      { curve: random, runs: [runValue(100, () => 9)] },
    ]);
    const { curves } = results.planner;
    const event = { after: 50, text: "all change" };
    const item = curvesFigure({ id: "a", title: "A", caption: "", curves, event });
    const drawing = item.draw(results);
    if (drawing.kind !== "figure") throw new Error("not a figure");
    const [ten, one] = drawing.pictures;
    expect([ten!.title, one!.title]).toEqual(["vote scale 10", "vote scale 1"]);
    for (const { body } of drawing.pictures) {
      expect(body).toContain(">fine-tuned, Excel_perf_cost 55.0<");
      expect(body).toContain(`<title>${CURVE.name} (own)</title>`);
      expect(body).toContain(">all change<");
    }
    expect(one!.body).toContain(">joust 10.0<");
    expect(one!.body).toContain(">random 900.0 \u2191<");
    expect(ten!.body).toContain("mean of 2 runs");
    expect(one!.body).toContain("mean of 1 to 2 runs, lower is better");
    expect(item.draw(results)).toEqual(drawing);
    expect(drawing.pictures.map(({ body }) => body).join()).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("say above each panel which circles have fewer runs than the lines", async () => {
    const run = runValue(100, () => 0.5);
    const best = { policy: "best-theta", group: "baseline", variant: "best theta" } as const;
    const results = resultsOf(await newPlanner([], { runs: 2 }), [
      { curve: {}, runs: [run, run] },
      { curve: best, runs: [run] },
      { curve: { name: "random", policy: "random", group: "baseline" }, runs: [run, run] },
    ]);
    const { curves } = results.planner;
    const drawing = curvesFigure({ id: "a", title: "A", caption: "", curves }).draw(results);
    if (drawing.kind !== "figure") throw new Error("not a figure");
    expect(drawing.pictures[0]!.body).toContain(
      ">Cumulative regret, mean of 2 runs (best theta: 1), lower is better<",
    );
  });

  it("are as wide as their headings", () => {
    const heading = "a heading that is wider than the lines ".repeat(3);
    const widthOf = (title: string, label: string) =>
      chartPicture({
        title,
        series: [],
        x: { label: "x", to: 1 },
        y: { label, to: 1 },
        width: 100,
        height: 100,
      }).width;
    expect(widthOf(heading, "y")).toBeGreaterThan(textWidth(heading, 11));
    expect(widthOf("t", heading)).toBeGreaterThan(textWidth(heading, 10));
  });

  it("of maps, radars and points have no undefined numbers", () => {
    const names = ["a", "b"];
    const map = heatMapPicture({
      title: "one",
      note: "n",
      rows: names,
      columns: names,
      cells: [
        { row: "a", column: "a", value: 1 },
        { row: "a", column: "b", value: -0.001 },
        { row: "b", column: "a", value: 0.5 },
        { row: "b", column: "b", value: Number.NaN },
      ],
    });
    expect(map.body.match(/>0\.00</g)).toHaveLength(1); // no minus zero
    const values = new Map([
      ["x", 1],
      ["y", 0],
      ["z", 0.5],
    ]);
    const radar = radarPicture({ name: "m", values, color: 0 });
    const points = pointsPicture({
      title: "t",
      points: [
        [0, 1, 2],
        [3, -1, 0],
      ],
      category: [0, 1],
      categories: names,
    });
    for (const { body } of [map, radar, points]) expect(body).not.toMatch(/NaN|undefined/);
    expect(points.body.match(/<circle/g)).toHaveLength(2 + 2);
    const unknown = {
      title: "",
      rows: ["a"],
      columns: ["a"],
      cells: [{ row: "b", column: "a", value: 1 }],
    };
    expect(() => heatMapPicture(unknown)).toThrow("b is not one of a");
  });

  it("outline the largest cells of each row", () => {
    const values = { x: [1, 3, 2], y: [2, 2, 1] };
    const cells = Object.entries(values).flatMap(([row, own]) =>
      own.map((value, c) => ({ row, column: `${c}`, value })),
    );
    const outlined = outlineLargest(cells).filter((cell) => cell.outlined);
    expect(outlined.map(({ row, column }) => row + column)).toEqual(["x1", "y0", "y1"]);
  });
});

describe("the panels of a figure", () => {
  const curve = (name: string, rest: Partial<Curve> = {}): Curve => ({ ...CURVE, name, ...rest });
  const baseline = (policy: string) => curve(policy, { policy, group: "baseline" });
  const BASE = ["zero-feedback", "joust", "random", "best-fixed"].map(baseline);
  const WEIGHTINGS = ["perf", "perf_cost", "excel_perf_cost", "excel_mask"];
  const many = [
    ...WEIGHTINGS.flatMap((weighting) =>
      (["exp", "ctrl"] as const).flatMap((group) =>
        ["", "metadata raw"].map((variant) =>
          curve(`MiniLM_${weighting}_${group}${variant}`, { weighting, group, variant }),
        ),
      ),
    ),
    ...[1, 3, 5].map((examples) => curve(`MiniLM_${examples}`, { group: "prompt", examples })),
    curve("best", {
      policy: "best-theta",
      group: "baseline",
      weighting: "perf",
      variant: "best theta",
    }),
    ...BASE,
  ];

  it("have at most six curves, and together all of them, with zero-feedback and joust in each", () => {
    const rows = rowsOf(many, "weighting");
    expect(rows.map(({ title }) => title)).toEqual([
      "Perf",
      "Perf_cost",
      "Excel_perf_cost",
      "Excel_mask",
      "prompts",
    ]);
    for (const { curves, marks } of rows) {
      expect(curves.length).toBeLessThanOrEqual(6);
      expect(curves.slice(-2).map(({ name }) => name)).toEqual(["zero-feedback", "joust"]);
      expect(marks.slice(-2).map(({ name }) => name)).toEqual(["random", "best-fixed"]);
    }
    const shown = new Set(rows.flatMap(({ curves, marks }) => [...curves, ...marks]));
    expect(shown).toEqual(new Set(many));
    // The best theta stands beside the curves with its features only.
    expect(rows.map(({ marks }) => marks.length)).toEqual([3, 2, 2, 2, 2]);
  });

  it("have one encoder and one variant each where they fit, which the title names and the curves do not", () => {
    const encoders = ["MiniLM", "static"].flatMap((encoder) => [
      ...["", "metadata raw"].flatMap((variant) =>
        ["excel_perf_cost", "excel_mask"].flatMap((weighting) => {
          const own = { encoder, weighting, variant };
          const features = [variant, "best theta"].filter(Boolean).join(", ");
          return [
            curve(`${encoder}_E4_${weighting}${variant}`, own),
            curve(`${encoder}_E4_${weighting}_best${variant}`, {
              ...own,
              group: "baseline",
              policy: "best-theta",
              variant: features,
            }),
          ];
        }),
      ),
      curve(`${encoder}_5`, { encoder, group: "prompt", examples: 5, weighting: "perf" }),
    ]);
    const rows = rowsOf([...encoders, ...BASE], "encoder");
    const shown = rows.map((row) => {
      const nameOf = namesIn(row, { encoders: true, epochs: true });
      const names = [...row.curves.slice(0, -2), ...row.marks.slice(0, -2)].map(nameOf);
      return [row.title, ...names];
    });
    const tuned = ["fine-tuned, Excel_perf_cost", "fine-tuned, Excel_mask"];
    const best = ["best theta, Excel_perf_cost", "best theta, Excel_mask"];
    expect(shown).toEqual([
      ["MiniLM", ...tuned, "prompts, 5 queries", ...best],
      ["MiniLM, metadata raw", ...tuned, ...best],
      ["static", ...tuned, "prompts, 5 queries", ...best],
      ["static, metadata raw", ...tuned, ...best],
    ]);
  });

  it("are one if six curves suffice, and split a long list of variants", () => {
    expect(rowsOf([...many.slice(0, 4), ...BASE], "weighting")).toHaveLength(1);
    expect(rowsOf(BASE, "weighting")[0]!.curves).toHaveLength(2);
    const variants = Array.from({ length: 9 }, (_, i) => curve(`v${i}`, { variant: `mu=${i}` }));
    const sizes = rowsOf([...variants, ...BASE], "weighting").map(({ curves }) => curves.length);
    expect(sizes).toEqual([6, 6, 3]);
    const added = Array.from({ length: 4 }, (_, i) => curve(`a${i}`, { variant: "added" }));
    const split = rowsOf([...many.slice(0, 4), ...added, ...BASE], "weighting");
    expect(split.map(({ title }) => title)).toEqual(["Perf", "Excel_perf_cost, added"]);
  });

  it("have curves that differ in color or dash, and names that a reader understands", () => {
    for (const { curves } of rowsOf(many, "weighting")) {
      const styles = curves.map(stylesOf(curves));
      expect(new Set(styles.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(curves.length);
      expect(new Set(curves.map((one) => readableName(one))).size).toBe(curves.length);
    }
    expect(readableName(CURVE)).toBe("fine-tuned, Excel_perf_cost");
    expect(readableName({ ...CURVE, group: "ctrl" })).toBe("original, Excel_perf_cost");
    expect(readableName({ ...CURVE, variant: "metadata raw" })).toBe("fine-tuned, metadata raw");
    expect(readableName(CURVE, { encoders: true, epochs: true })).toBe(
      "MiniLM E4, fine-tuned, Excel_perf_cost",
    );
    expect(readableName(CURVE, { epochs: true })).toBe("fine-tuned E4, Excel_perf_cost");
    expect(readableName(curve("MiniLM_1", { group: "prompt", examples: 1 }))).toBe(
      "prompts, 1 query",
    );
    expect(readableName(curve("FGTS.CDB", { encoder: "" }))).toBe("FGTS.CDB");
  });
});

describe("a figure as a file", () => {
  it("has the colors of its series in programs that know no style sheets", () => {
    const square = `<path d="M0 0h9v9H0z"/>`;
    const picture = { title: "t", width: 9, height: 9, body: colored(0, square) };
    const { pixels } = new Resvg(svgFile("t", [picture])).render();
    expect([...pixels.subarray(0, 3)]).toEqual([0xc0, 0x55, 0x00]);
  });

  const picture = (title: string) =>
    chartPicture({
      title,
      series: [],
      x: { label: "x", to: 1 },
      y: { label: "y", to: 1 },
      width: 100,
      height: 100,
    });

  it("has its title above its pictures, once, and its own colors for dark surroundings", () => {
    const title = `${"a long title ".repeat(12)}<&>`;
    const file = svgFile(title, [picture("one"), picture("two")]);
    expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(file).toContain("&#60;&#38;&#62;</text>");
    expect(Number(file.match(/ width="(\d+)"/)![1])).toBeGreaterThan(6 * title.length);
    expect(file).toContain("prefers-color-scheme:dark");
    expect(svgFile("one", [picture("one")]).match(/>one</g)).toHaveLength(2); // the <title>, and the chart's
  });

  it("has short coordinates and leaves out points that cannot be seen", () => {
    expect(
      path([
        [0, 0],
        [10, 0.1],
        [20, 0],
      ]),
    ).toBe("M0 0l20 0");
    expect(
      path([
        [0, 0],
        [10.04, 5],
        [20, 0],
      ]),
    ).toBe("M0 0l10 5 10-5");
    expect(path([[0.55, -0.55]])).toBe("M.6-.5");
  });
});
