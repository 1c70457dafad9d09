/** The comparisons that claims consist of. */
import type { Curve } from "../../reproduce/curve.ts";
import type { Measure, Results } from "../../reproduce/results.ts";
import { type Cell, minus } from "../../reproduce/verdict.ts";

const OPENAI = "OpenAItext";
export const TWO_THIRDS = "in at least two thirds of the cells";

/** A comparison of a curve, in its setting, with another. */
export function cellOf(
  { name, form, voteScale, variant }: Curve,
  runs: readonly number[],
  options: { readonly t?: number; readonly against?: string; readonly of?: string } = {},
): Cell {
  const { t, against, of = "" } = options;
  const setting = [form, variant, `s=${voteScale}`, t === undefined ? "" : `T=${t}`];
  const rival = against === undefined ? "" : ` against ${against}`;
  const label = `${name} (${setting.filter(Boolean).join(", ")})${rival}${of}`;
  return { label, voteScale, metadata: METADATA.get(variant), runs };
}

/** How metadata is appended to a_k, for each variant that claims about exp include. */
const METADATA = new Map([
  ["", "none"],
  ["metadata raw", "raw"],
  ["metadata scaled", "scaled"],
]);

/** The lengths at which a curve is read: 720 and 3,000, or its end. */
export function lengths(results: Results, curve: Curve): number[] {
  const { short } = results.planner.size;
  const last = results.rounds(curve);
  return last > short && results.regrets(curve, short) ? [short, last] : [last];
}

/**
 * A cell for each length that both curves have. `other` is the second curve, or the attributes in
 * which it differs from the first.
 */
export function beats(
  results: Results,
  better: Curve,
  other: Curve | Parameters<Results["counterpart"]>[1],
  measure: Measure = "regret",
): Cell[] {
  const worse = "runs" in other ? other : results.counterpart(better, other);
  if (!worse) return [];
  return [...new Set([...lengths(results, better), ...lengths(results, worse)])].flatMap((t) => {
    const [a, b] = [results.regrets(better, t, measure), results.regrets(worse, t, measure)];
    if (!a || !b) return [];
    const cell = cellOf(better, minus(a, b), { t, against: worse.name });
    return [{ ...cell, of: { curves: [better, worse], t, measure } }];
  });
}

/**
 * The fine-tuned curves that claims about exp compare. They include curves without metadata and
 * curves with metadata, because the paper does not say how its metadata is scaled. Other variants
 * (votes that count cost, mu, lambda, ..) are other settings or have claims of their own.
 */
export function expCurves(
  results: Results,
  experiment: string,
  of: (curve: Curve) => boolean = () => true,
): Curve[] {
  const all = results.curves({ experiment, group: "exp" });
  return all.filter((curve) => METADATA.has(curve.variant) && of(curve));
}

/** exp against ctrl for each weighting. */
export function tunedPairs(
  results: Results,
  experiment: string,
  of?: (curve: Curve) => boolean,
): Cell[] {
  return expCurves(results, experiment, of).flatMap((curve) =>
    beats(results, curve, { group: "ctrl" }),
  );
}

/** The paper's two best weightings, fine-tuned. */
export function excelExp(
  results: Results,
  experiment: string,
  of: (curve: Curve) => boolean = () => true,
): Curve[] {
  return expCurves(
    results,
    experiment,
    (curve) => curve.weighting.startsWith("excel") && of(curve),
  );
}

/**
 * Compares fine-tuned curves with prompts of `examples` queries in the same setting. The prompts are
 * those of OpenAItext if available, otherwise those of the curve's own encoder.
 */
export function promptRivals(
  results: Results,
  curves: readonly Curve[],
  examples: number,
  by: Measure | "convergence" = "regret",
): Cell[] {
  return curves.flatMap((curve) => {
    const { experiment, form, voteScale } = curve;
    const setting = { experiment, form, voteScale, variant: "" };
    const all = results.curves({ ...setting, group: "prompt", examples });
    const openai = all.filter(({ encoder }) => encoder === OPENAI);
    const own = all.filter(({ encoder }) => encoder === curve.encoder);
    return (openai.length > 0 ? openai : own).flatMap((rival) => {
      if (by !== "convergence") return beats(results, curve, rival, by);
      // Only the rounds that both curves have are compared.
      const t = sharedRounds(results, curve, rival);
      const last = (c: Curve) => slopes(results, c, (2 / 3) * t, t);
      // Slopes times rounds are regrets, so that both kinds of numbers can stand side by side.
      const runs = minus(last(curve), last(rival)).map((d) => (d * t) / 3);
      return [cellOf(curve, runs, { t, against: rival.name, of: ", last third" })];
    });
  });
}

/** The number of rounds that both curves have. */
export function sharedRounds(results: Results, a: Curve, b: Curve): number {
  return Math.min(results.rounds(a), results.rounds(b));
}

/** Each run's mean regret per round between two rounds. */
export function slopes(results: Results, curve: Curve, from: number, to: number): number[] {
  const all = results.rounds(curve);
  return results.slopes(curve, from / all, to / all);
}

/** Filters curves that should be OpenAItext's: keeps those of OpenAItext if available, otherwise all. */
export function standingIn(results: Results, curves: readonly Curve[]): Curve[] {
  const hasOpenai = results.encoders.some(({ name }) => name === OPENAI);
  return curves.filter(({ encoder }) => !hasOpenai || encoder === OPENAI);
}

/** The slope of the last third minus 0.8 times that of the first. */
export function flattens(results: Results, curve: Curve): Cell {
  const [first, last] = [results.slopes(curve, 0, 1 / 3), results.slopes(curve, 2 / 3, 1)];
  return cellOf(curve, minus(last, first, 0.8));
}

/** Compares the costs of two curves. No cell if their lengths differ or a cost is missing. */
export function cheaper(results: Results, cheap: Curve, expensive: Curve | undefined): Cell[] {
  if (!expensive || results.rounds(cheap) !== results.rounds(expensive)) return [];
  const costsOf = (curve: Curve) => {
    const costs = results.runs(curve).flatMap(({ cost }) => cost ?? []);
    return costs.length === curve.runs.length ? costs : undefined;
  };
  const [a, b] = [costsOf(cheap), costsOf(expensive)];
  return a && b ? [cellOf(cheap, minus(a, b), { against: expensive.name })] : [];
}

/** Each run's regret after a share of its rounds. */
export function regretAfter(results: Results, curve: Curve, share: number): number[] {
  const rounds = (1 - share) * results.rounds(curve);
  return results.slopes(curve, share, 1).map((slope) => slope * rounds);
}

/** Regret per round in the last third of the rounds after `share`, minus that in the first third of them. */
export function fallsAfter(results: Results, curve: Curve, share: number): Cell {
  const third = (i: number) => share + ((1 - share) * i) / 3;
  const early = results.slopes(curve, share, third(1));
  const late = results.slopes(curve, third(2), 1);
  return cellOf(curve, minus(late, early), { of: ", its slope" });
}
