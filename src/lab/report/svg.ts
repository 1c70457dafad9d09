import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

export const INK = "#222222";
export const PAPER = "#ffffff";

/** Colors of the series of a figure, in order. */
export const PALETTE = [
  "#d55e00",
  "#0072b2",
  "#008f6b",
  "#b0508a",
  "#7a5c14",
  "#3d8fc4",
  "#5a1040",
  "#6f6f1c",
  "#b07d00",
  "#444444",
];

const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';

/**
 * A plot as the text of an SVG file that needs nothing else. It has a namespace, a
 * background and a font, but not Plot's style sheet, which some renderers ignore. The
 * same options give the same bytes.
 */
export function drawSvg(title: string, options: Plot.PlotOptions): string {
  const { document } = parseHTML("<html></html>");
  const svg = Plot.plot({ ...options, document });
  svg.querySelector("style")?.remove();
  svg.removeAttribute("class");
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    role: "img",
    "aria-label": title,
    "font-family": FONT,
    color: INK,
  };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  const paper = document.createElementNS(attributes.xmlns, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", PAPER);
  const heading = document.createElementNS(attributes.xmlns, "title");
  heading.textContent = title;
  svg.prepend(heading, paper);
  return `${svg.toString()}\n`;
}

/** A plot with coordinates in tenths of a pixel: the difference cannot be seen, and the text is half as long. */
export function drawCompact(title: string, options: Plot.PlotOptions): string {
  // Numbers in a label are part of its text and stay as they are.
  return drawSvg(title, options).replace(/(?<!aria-label)="[^"]*\d\.\d{2,}[^"]*"/g, (attribute) =>
    attribute.replace(/\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
  );
}

export interface PixelScale {
  /** Makes the plot map values as `toPixel` does. */
  readonly options: Plot.ScaleOptions;
  toPixel(value: number): number;
  /** The value that Plot draws at a pixel. Positions found in pixels are passed to Plot as data. */
  toData(pixel: number): number;
}

/** A scale that is known before the plot is drawn. `nice` extends its domain to the next ticks. */
export function pixelScale(
  domain: readonly [number, number],
  range: readonly [number, number],
  { type = "linear", nice = true }: { type?: "linear" | "log"; nice?: boolean } = {},
): PixelScale {
  const scale = Plot.scale({ y: { type, domain, range, nice } });
  const options = { type, domain: [...(scale.domain ?? domain)], range };
  return {
    options,
    toPixel: (value) => scale.apply(value),
    toData: (pixel) => scale.invert?.(pixel),
  };
}

/**
 * The value at which an axis ends. Infinity, unless half of the values would lie in the
 * lowest 4% of the axis; then it ends just above the values within 5 times the median.
 */
export function axisCap(values: readonly number[]): number {
  const positive = values.filter((value) => value > 0).sort((a, b) => a - b);
  const median = positive[(positive.length - 1) >> 1];
  if (median === undefined || positive.at(-1)! <= 25 * median) return Infinity;
  return 1.25 * positive.findLast((value) => value <= 5 * median)!;
}
