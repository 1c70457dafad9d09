import { colored, element, label, type Picture, textWidth } from "./svg.ts";
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

const CELL = { width: 40, height: 22 };
const TOP = 40;
/** Indices of colors in the list of colors. */
const [OUTLINE, SHADE] = [0, 1];

/** Darker cells have larger values. Each map has its own range of shades, because the cells show the numbers. */
export function heatMapPicture({ title, note = "", rows, columns, cells }: HeatMap): Picture {
  const left = 10 + Math.max(...rows.map((name) => textWidth(name, 11)));
  const bottom = TOP + rows.length * CELL.height;
  const foot = 16 + Math.max(...columns.map((name) => 0.7 * textWidth(name, 10)));
  const known = cells.map(({ value }) => value).filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const marks = cells.map(({ row, column, value, outlined }) => {
    const x = left + indexOf(columns, column) * CELL.width;
    const y = TOP + indexOf(rows, row) * CELL.height;
    if (!Number.isFinite(value)) return "";
    const share = (value - low) / (high - low || 1);
    const box = { x: x + 0.5, y: y + 0.5, width: CELL.width - 1, height: CELL.height - 1 };
    const text = fixed(value, 2);
    return [
      colored(SHADE, element("rect", { ...box, "fill-opacity": (0.04 + 0.86 * share).toFixed(2) })),
      outlined
        ? colored(
            OUTLINE,
            element("rect", { ...box, fill: "none", stroke: "currentColor", "stroke-width": 2 }),
          )
        : "",
      label(x + CELL.width / 2, y + CELL.height / 2, text, {
        class: share > 0.55 ? "on" : undefined,
        fill: share > 0.55 ? "#fff" : undefined,
      }),
    ].join("");
  });
  const start = { "text-anchor": "start" };
  const end = { "text-anchor": "end" };
  const body = [
    label(4, 10, title, { ...start, "font-weight": 600 }),
    label(4, 26, note, { ...start, "fill-opacity": ".7" }),
    ...rows.map((name, r) => label(left - 6, TOP + (r + 0.5) * CELL.height, name, end)),
    element("g", { "font-size": 10 }, ...marks),
    ...columns.map((name, c) => {
      const [x, y] = [left + (c + 0.5) * CELL.width, bottom + 8];
      return label(x, y, name, { ...end, transform: `rotate(-40 ${x.toFixed(1)} ${y})` });
    }),
  ];
  const width = Math.max(left + columns.length * CELL.width, textWidth(title, 11) + 12) + 8;
  return { title, width: Math.ceil(width), height: Math.ceil(bottom + foot), body: body.join("") };
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
