/** The style of each policy's line, the same in every figure of a result. */
import type { LineStyle } from "../report/line-plot.ts";
import { isOracle, kindOf } from "./result-table.ts";

export interface PolicyStyle extends Omit<LineStyle, "band"> {
  readonly ink: string;
  /** Whether the line stands out: with a band, a larger label and a color. */
  readonly highlighted: boolean;
}

/**
 * Eight styles that can be told apart without hue: no two have the same dash, and their
 * lightness (L* of CIELAB) differs by 4 or more. The hues come from Okabe and Ito and from
 * Tol's muted set, which color-blind readers can tell apart, moved to those lightnesses.
 */
export const STYLES: readonly (PolicyStyle & { readonly kind?: string })[] = [
  style("#0b4aa2", "#0b4aa2", "none", "joust", 2.75),
  style("#d55e00", "#b84e00", "9 3", "fgts-cdb"),
  style("#000000", "#000000", "1.5 3", "zero-feedback"),
  style("#117733", "#117733", "10 3 2 3", "best-fixed"),
  style("#999933", "#6f6f1c", "4 3", "random"),
  style("#963586", "#963586", "14 3"),
  style("#008080", "#007575", "9 2 2 2 2 2"),
  style("#5a1040", "#5a1040", "6 2 6 6"),
];

const GREY: PolicyStyle = {
  color: "#b4b4b4",
  ink: "#6a6a6a",
  dash: "none",
  width: 1,
  highlighted: false,
};

/**
 * A style per name. `names` are sorted, the best first. The five policies of every comparison
 * keep their own styles, the best of the others get the rest, and further ones are grey.
 */
export function lineStyles(names: readonly string[]): Map<string, PolicyStyle> {
  const styles = new Map<string, PolicyStyle>();
  for (const own of STYLES.filter(({ kind }) => kind !== undefined)) {
    const name = names.find((n) => n === own.kind) ?? names.find((n) => kindOf(n) === own.kind);
    if (name !== undefined) styles.set(name, own);
  }
  const taken = new Set(styles.values());
  const left = STYLES.filter((one) => !taken.has(one));
  const free = [
    ...left.filter(({ kind }) => kind === undefined),
    ...left.filter(({ kind }) => kind !== undefined),
  ];
  const rest = names.filter((name) => !styles.has(name));
  for (const name of [...rest.filter((n) => !isOracle(n)), ...rest.filter(isOracle)]) {
    styles.set(name, free.shift() ?? GREY);
  }
  return styles;
}

function style(color: string, ink: string, dash: string, kind?: string, width = 1.9) {
  return { color, ink, dash, width, highlighted: true, ...(kind === undefined ? {} : { kind }) };
}
