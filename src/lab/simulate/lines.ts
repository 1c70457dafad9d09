/** How each policy's line looks, the same in every figure of a result. */
import { isOracle, kindOf } from "./result-table.ts";

export interface LineStyle {
  readonly color: string;
  /** The color of its label: dark enough to read as text. */
  readonly ink: string;
  readonly dash: string;
  readonly width: number;
  readonly highlighted: boolean;
}

/**
 * Eight lines that stay apart without hue: no two have the same dash, and their
 * lightness (L* of CIELAB) is 4 or more apart. Hues from Okabe and Ito's and
 * Tol's muted set, which the color-blind tell apart, moved to those lightnesses.
 */
export const STYLES: readonly (LineStyle & { readonly kind?: string })[] = [
  style("#0b4aa2", "#0b4aa2", "none", "joust", 2.75),
  style("#d55e00", "#b84e00", "9 3", "fgts-cdb"),
  style("#000000", "#000000", "1.5 3", "zero-feedback"),
  style("#117733", "#117733", "10 3 2 3", "best-fixed"),
  style("#999933", "#6f6f1c", "4 3", "random"),
  style("#963586", "#963586", "14 3"),
  style("#008080", "#007575", "9 2 2 2 2 2"),
  style("#5a1040", "#5a1040", "6 2 6 6"),
];

const BACKGROUND: LineStyle = {
  color: "#b4b4b4",
  ink: "#6a6a6a",
  dash: "none",
  width: 1,
  highlighted: false,
};

/**
 * A style for each name, best first. The five that every comparison needs keep
 * their own, then the best of the rest take what is left; past eight, thin grey.
 */
export function lineStyles(names: readonly string[]): Map<string, LineStyle> {
  const styles = new Map<string, LineStyle>();
  for (const own of STYLES.filter(({ kind }) => kind !== undefined)) {
    const name = names.find((n) => n === own.kind) ?? names.find((n) => kindOf(n) === own.kind);
    if (name !== undefined) styles.set(name, own);
  }
  const taken = new Set(styles.values());
  const free = STYLES.filter((s) => !taken.has(s)).sort((a, b) => rank(a) - rank(b));
  const rest = names.filter((name) => !styles.has(name));
  for (const name of [...rest.filter((n) => !isOracle(n)), ...rest.filter(isOracle)]) {
    styles.set(name, free.shift() ?? BACKGROUND);
  }
  return styles;
}

/** Styles that belong to nobody come first. */
function rank({ kind }: { readonly kind?: string }): number {
  return kind === undefined ? 0 : 1;
}

function style(color: string, ink: string, dash: string, kind?: string, width = 1.9) {
  return { color, ink, dash, width, highlighted: true, ...(kind === undefined ? {} : { kind }) };
}
