/** SVG as text. A color has one value for light and one for dark surroundings. */

import { htmlText } from "./table.ts";

/** A drawing. A figure consists of one or several. */
export interface Picture {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly body: string;
}

/**
 * Colors of series on white and on black. All have a contrast of 4.5:1. The lightness (L* of
 * CIELAB) of all but the last, a grey, differs by 4 or more, so that they can be told apart
 * without hue.
 */
export const COLORS = [
  ["#c05500", "#ff7a12"],
  ["#0a4598", "#82b2f6"],
  ["#117934", "#20dd5f"],
  ["#883079", "#cc70bd"],
  ["#616120", "#d2d277"],
  ["#004646", "#00f1f1"],
  ["#5e0c3e", "#e63ea3"],
  ["#302408", "#f5e7c5"],
  ["#6a6a6a", "#a0a0a0"],
] as const;

/** Index of grey, which is also the number of colors before it. */
export const GREY = COLORS.length - 1;

/** The color of texts and axes. A series may have it too. */
export const INK = "ink";
export type Color = number | typeof INK;

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element. Numbers are rounded to tenths of a pixel. */
export function element(name: string, attributes: Attributes, ...children: string[]): string {
  const texts = Object.entries(attributes).map(([key, value]) =>
    value === undefined
      ? ""
      : ` ${key}="${typeof value === "number" ? short(value) : htmlText(value)}"`,
  );
  const content = children.join("");
  return `<${name}${texts.join("")}${content === "" ? "/>" : `>${content}</${name}>`}`;
}

/** Elements that draw with `currentColor` in the given color. */
export function colored(color: Color, ...children: string[]): string {
  if (color === INK) return element("g", {}, ...children);
  // Some programs resolve `currentColor` where `fill` is set, so it is set again with the color.
  const own = { class: `c${color}`, color: COLORS[color]![0], fill: "currentColor" };
  return element("g", own, ...children);
}

/** A text whose middle is at the height y. */
export function label(x: number, y: number, content: string, attributes: Attributes = {}): string {
  const { "font-size": size = ROOT["font-size"] } = attributes;
  return element("text", { x, y: y + 0.35 * Number(size), ...attributes }, htmlText(content));
}

/** A text that is shown when the reader points at an element. */
export function hover(text: string): string {
  return element("title", {}, htmlText(text));
}

type Point = readonly [x: number, y: number];

/** The path through some points, as steps from each to the next, without points that cannot be seen. */
export function path(points: readonly Point[]): string {
  let [left, top] = [0, 0];
  const steps = simplified(points).map(([x, y], i) => {
    const [dx, dy] = [Math.round(10 * x) - left, Math.round(10 * y) - top];
    [left, top] = [left + dx, top + dy];
    return `${i === 0 ? "M" : i === 1 ? "l" : " "}${short(dx / 10)} ${short(dy / 10)}`;
  });
  return steps.join("").replaceAll(" -", "-");
}

/** Largest distance in pixels between a line and the points that it leaves out. */
const TOLERANCE = 0.4;

/** Ramer, Douglas and Peucker: keeps the point farthest from the line between both ends, if it is far enough. */
function simplified(points: readonly Point[]): readonly Point[] {
  if (points.length < 3) return points;
  const [[ax, ay], [bx, by]] = [points[0]!, points.at(-1)!];
  const length = Math.hypot(bx - ax, by - ay);
  const distance = ([x, y]: Point) =>
    length === 0
      ? Math.hypot(x - ax, y - ay)
      : Math.abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length;
  const far = points.reduce(
    (best, one, i) => (distance(one) > distance(points[best]!) ? i : best),
    0,
  );
  if (!(distance(points[far]!) > TOLERANCE)) return [points[0]!, points.at(-1)!];
  return [...simplified(points.slice(0, far + 1)).slice(0, -1), ...simplified(points.slice(far))];
}

function short(value: number): string {
  return String(Number(value.toFixed(1)) + 0).replace(/^(-?)0\./, "$1.");
}

const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';

/** A picture inside a page whose style sheet has the colors. */
export function inline({ title, width, height, body }: Picture): string {
  const attributes = { class: "pic", role: "img", "aria-label": title };
  const box = { width, height, viewBox: `0 0 ${short(width)} ${short(height)}` };
  return element("svg", { ...attributes, ...box }, body.replaceAll(COLOR_ATTRIBUTES, "$1"));
}

const ROOT = { color: "#222", fill: "currentColor", "font-size": 11, "text-anchor": "middle" };
/** The attributes of `colored` after the class, which says the same. */
const COLOR_ATTRIBUTES = /(<g class="c\d+") color="[^"]*" fill="currentColor"/g;
const [GAP, HEAD] = [16, 34];
const HEADING = { "font-weight": 600, "text-anchor": "start" };

/** All pictures as one file with a title, in rows of `columns` pictures. */
export function svgFile(
  title: string,
  pictures: readonly Picture[],
  columns = Math.max(1, Math.floor(1320 / ((pictures[0]?.width ?? 0) + GAP))),
): string {
  // A single picture that shows the same title itself needs no other.
  const head = pictures.length === 1 && pictures[0]!.title === title ? 0 : HEAD;
  let [y, right] = [head, head && textWidth(title, 13)];
  const placed = chunksOf(pictures, columns).flatMap((row) => {
    let x = 0;
    const groups = row.map((picture) => {
      const moved = { transform: `translate(${short(x)} ${short(y)})` };
      x += picture.width + GAP;
      return element("g", moved, picture.body);
    });
    right = Math.max(right, x - GAP);
    y += Math.max(...row.map(({ height }) => height)) + GAP;
    return groups;
  });
  const size = { width: Math.ceil(right + 12), height: Math.ceil(y) };
  const box = { ...size, viewBox: `0 0 ${size.width} ${size.height}` };
  const root = { xmlns: "http://www.w3.org/2000/svg", role: "img", "aria-label": title };
  return `${element(
    "svg",
    { ...root, class: "pic", "font-family": FONT, ...ROOT, ...box },
    element("title", {}, htmlText(title)),
    `<style>${DARK_CSS}</style>`,
    element("rect", { class: "paper", ...size, fill: "#fff" }),
    head > 0 ? label(3, 13, title, { ...HEADING, "font-size": 13 }) : "",
    ...placed,
  )}\n`;
}

export function chunksOf<T>(items: readonly T[], columns: number): T[][] {
  const count = Math.ceil(items.length / columns);
  return Array.from({ length: count }, (_, i) => items.slice(i * columns, (i + 1) * columns));
}

/** The colors of the pictures of a page, which would need 100 kB in a large report as attributes. */
export const PAGE_CSS = `.pic{color:${ROOT.color};fill:${ROOT.fill};font-size:${ROOT["font-size"]}px;text-anchor:${ROOT["text-anchor"]}}${COLORS.map(
  ([light], i) => `.c${i}{color:${light};fill:currentColor}`,
).join("")}`;

/** Replaces the light colors. In files, these are attributes, for programs that know no style sheets. */
export const DARK_CSS = `@media screen and (prefers-color-scheme:dark){.pic{color:#e6e6e6}.paper{fill:#161618}.on{fill:#000}${COLORS.map(
  ([, dark], i) => `.c${i}{color:${dark}}`,
).join("")}}`;

/** Breaks a text between words into lines of at most this width, where words are short enough. */
export function linesOf(text: string, fontSize: number, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, fontSize) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Approximate width of a text in any system font. */
export function textWidth(text: string, fontSize: number): number {
  return [...text].length * fontSize * 0.56;
}
