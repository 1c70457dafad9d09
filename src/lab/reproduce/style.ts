/** How lines look: what a curve is can be told from its color and its dash, in every figure alike. */
import { PALETTE } from "../report/svg.ts";
import type { Curve } from "./experiment.ts";

export interface Style {
  readonly color: string;
  readonly dash: string;
  readonly width: number;
  /** Whether its 95% band is drawn. */
  readonly band: boolean;
}

/** Okabe and Ito's colors, which the color-blind tell apart, some darker, so that names in them can be read. */
const WEIGHTINGS: Readonly<Record<string, string>> = {
  perf: "#0072b2",
  perf_cost: "#008f6b",
  excel_perf_cost: "#d55e00",
  excel_mask: "#b0508a",
  labels: "#d55e00",
  means: "#d55e00",
};
/** By lightness: they differ in a number. */
const PROMPTS: Readonly<Record<number, string>> = {
  1: "#b8860b",
  2: "#8a6d3b",
  3: "#8c5a2b",
  5: "#4d3319",
};
/** One weighting's bands: with more of them none can be seen. */
const BANDED = ["excel_perf_cost", "labels", "means"];
const DASHES = { exp: "none", ctrl: "5 3", ideal: "1.5 2.5", prompt: "9 2 2 2", baseline: "none" };

const BASELINES: Readonly<Record<string, Style>> = {
  random: { color: "#7a7a7a", dash: "4 3", width: 1.2, band: false },
  "best-fixed": { color: "#555555", dash: "14 4", width: 1.4, band: false },
  "zero-feedback": { color: "#000000", dash: "1.5 3", width: 1.8, band: false },
  joust: { color: "#0b3c8c", dash: "none", width: 2.6, band: true },
};

/** A second line of the same policy, such as zero-feedback (ideal), is dashed otherwise. */
function baselineOf({ policy, name }: Curve): Style | undefined {
  const usual = BASELINES[policy];
  if (!usual || name === policy) return usual;
  return { ...usual, dash: usual.dash === "none" ? "6 3" : "1.5 7", band: false };
}

/** By weighting and group, for the curves of one encoder. */
export function byWeighting(curve: Curve): Style {
  const { group, weighting, examples } = curve;
  const baseline = baselineOf(curve);
  if (baseline) return baseline;
  const color = (group === "prompt" ? PROMPTS[examples] : WEIGHTINGS[weighting]) ?? "#555555";
  const band = group === "exp" && BANDED.includes(weighting);
  return { color, dash: DASHES[group], width: 1.7, band };
}

/** Apart from each other and nothing more: one color for each of a few curves that differ in one thing. */
export function inTurn(curves: readonly Curve[]): (curve: Curve) => Style {
  const own = curves.filter(({ policy }) => !BASELINES[policy]);
  return (curve) => {
    const baseline = baselineOf(curve);
    if (baseline) return baseline;
    const i = own.indexOf(curve);
    return {
      color: PALETTE[i % PALETTE.length]!,
      dash: DASHES[curve.group],
      width: 1.7,
      band: own.length <= 3 || (curve.group === "exp" && curve.variant === ""),
    };
  };
}

/** One color an encoder, where curves of several stand together; dashes tell the weightings apart, and prompts. */
export function byEncoder(curves: readonly Curve[]): (curve: Curve) => Style {
  const encoders = [...new Set(curves.map(({ encoder }) => encoder))];
  return (curve) => {
    const { encoder, weighting, group } = curve;
    const usual = byWeighting(curve);
    if (group === "baseline") return usual;
    const color = PALETTE[encoders.indexOf(encoder) % PALETTE.length]!;
    return { ...usual, color, dash: weighting === "excel_mask" ? DASHES.ctrl : usual.dash };
  };
}
