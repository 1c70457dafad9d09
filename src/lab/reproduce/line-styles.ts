/** Styles of lines. The color and dash of a curve mean the same in every figure. */
import type { LineStyle } from "../report/line-plot.ts";
import { PALETTE } from "../report/svg.ts";
import type { Curve } from "./curve.ts";

/** Okabe and Ito's colors, which color-blind readers can tell apart; some are darker, so that labels can be read. */
const WEIGHTINGS: Readonly<Record<string, string>> = {
  perf: "#0072b2",
  perf_cost: "#008f6b",
  excel_perf_cost: "#d55e00",
  excel_mask: "#b0508a",
  labels: "#d55e00",
  means: "#d55e00",
};
/** Darker with more example queries. */
const PROMPTS: Readonly<Record<number, string>> = {
  1: "#b8860b",
  2: "#8a6d3b",
  3: "#8c5a2b",
  5: "#4d3319",
};
/** Weightings with a band. More bands would hide each other. */
const BANDED = ["excel_perf_cost", "labels", "means"];
const DASHES = { exp: "none", ctrl: "5 3", ideal: "1.5 2.5", prompt: "9 2 2 2", baseline: "none" };

const BASELINES: Readonly<Record<string, LineStyle>> = {
  random: { color: "#7a7a7a", dash: "4 3", width: 1.2, band: false },
  "best-fixed": { color: "#555555", dash: "14 4", width: 1.4, band: false },
  "zero-feedback": { color: "#000000", dash: "1.5 3", width: 1.8, band: false },
  joust: { color: "#0b3c8c", dash: "none", width: 2.6, band: true },
};

/** A second line of the same policy, such as zero-feedback (ideal), has another dash. */
function baselineStyle({ policy, name }: Curve): LineStyle | undefined {
  const usual = BASELINES[policy];
  if (!usual || name === policy) return usual;
  return { ...usual, dash: usual.dash === "none" ? "6 3" : "1.5 7", band: false };
}

/** Colors by weighting and dashes by group, for the curves of one encoder. */
export function byWeighting(curve: Curve): LineStyle {
  const { group, weighting, examples } = curve;
  const baseline = baselineStyle(curve);
  if (baseline) return baseline;
  const color = (group === "prompt" ? PROMPTS[examples] : WEIGHTINGS[weighting]) ?? "#555555";
  const band = group === "exp" && BANDED.includes(weighting);
  return { color, dash: DASHES[group], width: 1.7, band };
}

/** One color per curve, for a few curves that differ in one thing. */
export function byCurve(curves: readonly Curve[]): (curve: Curve) => LineStyle {
  const own = curves.filter(({ policy }) => !BASELINES[policy]);
  return (curve) => {
    const baseline = baselineStyle(curve);
    if (baseline) return baseline;
    return {
      color: PALETTE[own.indexOf(curve) % PALETTE.length]!,
      dash: DASHES[curve.group],
      width: 1.7,
      band: own.length <= 3 || (curve.group === "exp" && curve.variant === ""),
    };
  };
}

/** One color per encoder, for curves of several encoders. Dashes tell weightings and prompts apart. */
export function byEncoder(curves: readonly Curve[]): (curve: Curve) => LineStyle {
  const encoders = [...new Set(curves.map(({ encoder }) => encoder))];
  return (curve) => {
    const { encoder, weighting, group } = curve;
    const usual = byWeighting(curve);
    if (group === "baseline") return usual;
    const color = PALETTE[encoders.indexOf(encoder) % PALETTE.length]!;
    return { ...usual, color, dash: weighting === "excel_mask" ? DASHES.ctrl : usual.dash };
  };
}
