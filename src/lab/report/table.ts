/** A table in five formats. CSV keeps full precision; the others round all numbers of a column alike. */
import type { Interval } from "../../core/statistics.ts";

export interface Table {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Index of the row that is set in bold. */
  readonly best?: number | undefined;
}

/** Text is aligned left, numbers right. In CSV an interval has three columns: key, key_lo, key_hi. */
export interface Column {
  /** Its name in CSV. */
  readonly key: string;
  readonly title: string;
  readonly kind: "text" | "number" | "whole" | "percent" | "p-value" | "interval";
}

type Cell = string | number | Interval | null;

/** A column with the function that gives its cell of a row. */
export interface CellColumn<Row> extends Column {
  cell(row: Row): Cell;
}

/** A table with a row for each item. `best` is the item whose row is set in bold. */
export function tableOf<Row>(
  title: string,
  items: readonly Row[],
  columns: readonly CellColumn<Row>[],
  best?: Row,
): Table {
  return {
    title,
    columns: columns.map(({ cell: _, ...column }) => column),
    rows: items.map((item) => columns.map(({ cell }) => cell(item))),
    best: best === undefined ? undefined : items.indexOf(best),
  };
}

/** Styles of a terminal. */
export interface Colors {
  bold(text: string): string;
  dim(text: string): string;
}

const PLAIN: Colors = { bold: (text) => text, dim: (text) => text };

/** For a terminal. Columns that exceed `width` are dropped from the right and named below. */
export function toText(table: Table, colors: Colors = PLAIN, width = Infinity): string {
  const columns = printed(table).map((column) => column.map(ascii));
  const widths = columns.map((column) => Math.max(...column.map((cell) => [...cell].length)));
  let shown = 1;
  let total = widths[0] ?? 0;
  while (shown < columns.length && total + 2 + widths[shown]! <= width) {
    total += 2 + widths[shown++]!;
  }
  const line = (row: number) =>
    columns
      .slice(0, shown)
      .map((column, c) => pad(column[row]!, widths[c]!, table.columns[c]!.kind))
      .join("  ")
      .trimEnd();
  const lines = [colors.bold(table.title), line(0), colors.dim("-".repeat(total))];
  lines.push(...table.rows.map((_, r) => (r === table.best ? colors.bold : String)(line(r + 1))));
  const left = table.columns.slice(shown).map((column) => column.title);
  if (left.length > 0) lines.push(colors.dim(`too narrow to show: ${left.join(", ")}`));
  return `${lines.join("\n")}\n`;
}

/** RFC 4180 with a header and full precision. Unknown values are empty fields. */
export function toCsv(table: Table): string {
  const header = table.columns.flatMap(({ key, kind }) =>
    kind === "interval" ? [key, `${key}_lo`, `${key}_hi`] : [key],
  );
  const rows = table.rows.map((row) =>
    row.flatMap((cell, c): (string | number | null)[] => {
      if (table.columns[c]!.kind !== "interval") return [isInterval(cell) ? cell.mean : cell];
      return isInterval(cell) ? [cell.mean, cell.lo, cell.hi] : [null, null, null];
    }),
  );
  return [header, ...rows].map((row) => `${row.map(csvField).join(",")}\n`).join("");
}

/** A booktabs tabular, to be included with \input in a table environment. */
export function toLatex(table: Table): string {
  const [header, ...body] = transpose(printed(table)).map((row) => row.map(latexText));
  const rows = body.map((row, r) =>
    r === table.best ? row.map((cell) => `\\textbf{${cell}}`) : row,
  );
  const line = (row: readonly string[] = []) => `${row.join(" & ")} \\\\`;
  const align = table.columns.map(({ kind }) => (kind === "text" ? "l" : "r")).join("");
  return [
    `% ${table.title.replace(/\s+/g, " ")}. Needs \\usepackage{booktabs}.`,
    `\\begin{tabular}{${align}}`,
    "\\toprule",
    line(header),
    "\\midrule",
    ...rows.map(line),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

/** The table as HTML. Optional end tags are left out, because a report has thousands of cells. */
export function toHtml(table: Table): string {
  const [header, ...body] = transpose(printed(table)).map((row) => row.map(htmlText));
  const attribute = (c: number) => (table.columns[c]!.kind === "text" ? "" : " class=n");
  const head = header?.map((cell, c) => `<th scope=col${attribute(c)}>${cell}`).join("");
  const rows = body.map((row, r) => {
    const [first, ...rest] = row;
    const cells = rest.map((cell, c) => `<td${attribute(c + 1)}>${cell}`).join("");
    return `<tr${r === table.best ? ' class="best"' : ""}><th scope=row>${first}${cells}`;
  });
  return [
    "<table>",
    `<caption>${htmlText(table.title)}</caption>`,
    `<thead><tr>${head}`,
    "<tbody>",
    ...rows,
    "</table>",
    "",
  ].join("\n");
}

export function toMarkdown(table: Table): string {
  const [header, ...body] = transpose(printed(table)).map((row) => row.map(markdownText));
  const rule = table.columns.map(({ kind }) => (kind === "text" ? ":--" : "--:"));
  const rows = body.map((row, r) => (r === table.best ? row.map((cell) => `**${cell}**`) : row));
  const lines = [header ?? [], rule, ...rows].map((row) => `| ${row.join(" | ")} |`);
  return [`**${markdownText(table.title)}**`, "", ...lines, ""].join("\n");
}

/** The number of decimals that gives the largest value four digits. A column uses it for all values. */
export function decimalsOf(values: readonly number[]): number {
  const largest = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  if (largest === 0 || values.every((value) => !Number.isFinite(value) || Number.isInteger(value)))
    return 0;
  return Math.min(8, Math.max(0, 3 - Math.floor(Math.log10(largest))));
}

/** Fixed decimals with a typographic minus, and never minus zero. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", MINUS);
}

export function htmlText(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** The texts of each column, the title first. Short bounds of intervals are padded with figure spaces. */
function printed(table: Table): string[][] {
  const means = table.rows.flat().flatMap((cell) => (isInterval(cell) ? [cell.mean] : []));
  const decimals = Math.max(1, decimalsOf(means));
  return table.columns.map(({ title, kind }, c) => {
    const cells = table.rows.map((row) => row[c] ?? null);
    const texts = kind === "interval" ? printIntervals(cells, decimals) : printPlain(cells, kind);
    return [title, ...texts];
  });
}

function printPlain(cells: readonly Cell[], kind: Column["kind"]): string[] {
  const scale = kind === "percent" ? 100 : 1;
  const decimals = kind === "percent" ? 1 : decimalsOf(cells.filter((v) => typeof v === "number"));
  return cells.map((cell) => {
    if (typeof cell === "string") return cell;
    if (typeof cell !== "number" || !Number.isFinite(cell)) return DASH;
    if (kind === "whole") return cell > 0 && cell < 1 ? "<1" : fixed(cell, 0);
    if (kind === "p-value") return cell < 1e-4 ? "<0.0001" : cell.toFixed(4);
    return fixed(cell * scale, decimals) + (kind === "percent" ? "%" : "");
  });
}

/** All intervals of a table measure the same quantity and have the same decimals. */
function printIntervals(cells: readonly Cell[], decimals: number): string[] {
  const intervals = cells.map((cell) => (isInterval(cell) ? cell : null));
  const column = (of: (interval: Interval) => number): string[] => {
    const texts = intervals.map((i) => (i && Number.isFinite(of(i)) ? fixed(of(i), decimals) : ""));
    const width = Math.max(...texts.map((text) => text.length));
    return texts.map((text) => (text === "" ? "" : text.padStart(width, FIGURE_SPACE)));
  };
  const [means, lows, highs] = [column((i) => i.mean), column((i) => i.lo), column((i) => i.hi)];
  return means.map((mean, r) => {
    if (mean === "") return DASH;
    return lows[r] === "" || highs[r] === "" ? mean : `${mean} [${lows[r]}, ${highs[r]}]`;
  });
}

const MINUS = "\u2212";
const DASH = "\u2013";
const FIGURE_SPACE = "\u2007"; // as wide as a digit
const SPACES = /\u2007/g;

function isInterval(cell: Cell): cell is Interval {
  return typeof cell === "object" && cell !== null;
}

function pad(text: string, width: number, kind: Column["kind"]): string {
  const space = " ".repeat(Math.max(0, width - [...text].length));
  return kind === "text" ? text + space : space + text;
}

/** Replaces figure spaces, dashes and minus signs, which terminal fonts set differently. */
export function ascii(text: string): string {
  return text.replace(SPACES, " ").replaceAll(MINUS, "-").replaceAll(DASH, "-");
}

function transpose(columns: readonly (readonly string[])[]): string[][] {
  return (columns[0] ?? []).map((_, r) => columns.map((column) => column[r]!));
}

function csvField(value: string | number | null): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  if (value === null) return "";
  return /[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Escapes brackets too, because one at the start of a row would be the argument of the \\ before it. */
function latexText(text: string): string {
  return text.replace(
    /[\\{}$&#^_%~<>|"[\]\n\u2007\u2212\u2013\u00b5]/g,
    (c) => LATEX[c] ?? `\\${c}`,
  );
}

const LATEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "{''}",
  "[": "{[}",
  "]": "{]}",
  "\n": " ",
  "\u2007": "\\phantom{0}",
  "\u2212": "$-$",
  "\u2013": "--",
  "\u00b5": "$\\mu$",
};

function markdownText(text: string): string {
  return text
    .replace(SPACES, "")
    .replace(/[\\`*_<>|~&]/g, "\\$&")
    .replace(/\s+/g, " ");
}
