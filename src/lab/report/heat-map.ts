import * as Plot from "@observablehq/plot";
import { textWidth } from "./labels.ts";
import { drawCompact } from "./svg.ts";
import { fixed } from "./table.ts";

export interface HeatMap {
  readonly title: string;
  /** A line below the title. */
  readonly note?: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** The cells in any order; a row or column that is not named above is an error. */
  readonly cells: readonly HeatCell[];
}

/** A number with the names of its row and column. */
export interface HeatCell {
  readonly row: string;
  readonly column: string;
  readonly value: number;
  readonly outlined?: boolean | undefined;
}

const CELL = { width: 44, height: 22 };
const GAP = 26;
const OUTLINE = "#d55e00"; // visible on white and on dark blue

/** Maps with the same rows, side by side. Each has its own range of colors, because the cells show the numbers. */
export function heatMapsSvg(title: string, maps: readonly HeatMap[], decimals = 2): string {
  const rows = maps[0]!.rows;
  const left = 10 + Math.max(...rows.map((name) => textWidth(name, 11)));
  const foot =
    14 +
    Math.max(...maps.flatMap(({ columns }) => columns.map((name) => 0.75 * textWidth(name, 10))));
  let x = left;
  const placed = maps.map((map) => {
    const from = x;
    const title = textWidth(map.title, 11);
    x += Math.max(map.columns.length * CELL.width, title, textWidth(map.note ?? "", 10)) + GAP;
    return { ...map, from };
  });
  const [width, top] = [x - GAP + 12, maps.some(({ note }) => note) ? 42 : 30];
  const bottom = top + rows.length * CELL.height;
  const cells = placed.flatMap((map) => {
    const all = map.cells.map(({ value }) => value).filter(Number.isFinite);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return map.cells.map(({ row, column, value, outlined = false }) => {
      const [r, c] = [indexOf(rows, row), indexOf(map.columns, column)];
      const share = Number.isFinite(value) ? (value - low) / (high - low || 1) : 0;
      return {
        x1: map.from + c * CELL.width,
        x2: map.from + (c + 1) * CELL.width,
        y1: top + r * CELL.height,
        y2: top + (r + 1) * CELL.height,
        fill: shade(share),
        ink: share > 0.6 ? "#ffffff" : "#222222",
        text: Number.isFinite(value) ? fixed(value, decimals) : "",
        outlined,
      };
    });
  });
  type CellMark = (typeof cells)[number];
  const middle = (a: number, b: number) => (a + b) / 2;
  return drawCompact(title, {
    width,
    height: bottom + foot,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    style: { fontSize: "10px" },
    marks: [
      Plot.rect(cells, {
        x1: "x1",
        x2: "x2",
        y1: "y1",
        y2: "y2",
        fill: (d: CellMark) => d.fill,
        inset: 0.5,
      }),
      Plot.rect(
        cells.filter((cell) => cell.outlined),
        { x1: "x1", x2: "x2", y1: "y1", y2: "y2", stroke: OUTLINE, strokeWidth: 2, inset: 1.5 },
      ),
      Plot.text(cells, {
        x: (d: CellMark) => middle(d.x1, d.x2),
        y: (d: CellMark) => middle(d.y1, d.y2),
        text: "text",
        fill: (d: CellMark) => d.ink,
      }),
      Plot.text(rows, {
        x: left - 6,
        y: (_: string, r: number) => top + (r + 0.5) * CELL.height,
        text: (name: string) => name,
        textAnchor: "end",
        fontSize: 11,
      }),
      ...placed.flatMap(({ columns, from, title: own, note = "" }) => [
        Plot.text([note], { x: from, y: top - 10, textAnchor: "start", fill: "#555555" }),
        Plot.text([own], {
          x: from,
          y: note ? top - 25 : top - 14,
          textAnchor: "start",
          fontWeight: "600",
          fontSize: 11,
        }),
        Plot.text(columns, {
          x: (_: string, c: number) => from + (c + 0.5) * CELL.width + 4,
          y: bottom + 8,
          text: (name: string) => name,
          textAnchor: "end",
          rotate: -40,
        }),
      ]),
    ],
  });
}

function indexOf(names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  if (index < 0) throw new RangeError(`${name} is not one of ${names.join(", ")}`);
  return index;
}

/** The same cells, those with the largest value of their row outlined. */
export function outlineLargest(cells: readonly HeatCell[]): HeatCell[] {
  const rows = Map.groupBy(cells, ({ row }) => row);
  const largest = (row: string) => Math.max(...rows.get(row)!.map(({ value }) => value));
  return cells.map((cell) => ({ ...cell, outlined: cell.value === largest(cell.row) }));
}

/** A color from white over light blue to dark blue, with evenly falling lightness. */
function shade(share: number): string {
  const stops = [
    [247, 251, 255],
    [107, 174, 214],
    [8, 48, 107],
  ] as const;
  const at = Math.min(1, Math.max(0, share)) * 2;
  const i = Math.min(1, Math.floor(at));
  const mix = stops[i]!.map((from, c) => Math.round(from + (at - i) * (stops[i + 1]![c]! - from)));
  return `rgb(${mix.join(",")})`;
}
