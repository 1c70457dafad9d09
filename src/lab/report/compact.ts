import type * as Plot from "@observablehq/plot";
import { drawSvg } from "./svg.ts";

/** A plot whose coordinates are whole tenths of a pixel: nobody sees more, and it is half the bytes. */
export function drawCompact(title: string, options: Plot.PlotOptions): string {
  // A label is words: its numbers mean what they say.
  return drawSvg(title, options).replace(/(?<!aria-label)="[^"]*\d\.\d{2,}[^"]*"/g, (attribute) =>
    attribute.replace(/\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
  );
}
