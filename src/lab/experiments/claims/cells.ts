/** The cells that claims speak of. */
import type { Curve, Finding } from "../../reproduce/experiment.ts";
import type { Measure, Results } from "../../reproduce/results.ts";
import { type CellOfClaim, decide, minus } from "../../reproduce/verdict.ts";
import { LINEAR } from "../linear.ts";

const OPENAI = "OpenAItext";

export const TWO_THIRDS = "in at least two thirds of the cells";
export const NO_TUNING = { without: "no encoder here can be fine-tuned" };

/** What is compared of a curve, in its world, with what. */
export function cellOf(
  { name, form, voteScale, variant }: Curve,
  differences: readonly number[],
  { t, against, of = "" }: { readonly t?: number; readonly against?: string; readonly of?: string },
): CellOfClaim {
  const world = [form, variant, `s=${voteScale}`, t === undefined ? "" : `T=${t}`].filter(Boolean);
  const rival = against === undefined ? "" : ` against ${against}`;
  const metadata = METADATA.get(variant);
  return { label: `${name} (${world.join(", ")})${rival}${of}`, voteScale, metadata, differences };
}

/** Of the variants that claims about exp speak of. */
const METADATA = new Map([
  ["", "none"],
  ["metadata raw", "raw"],
  ["metadata scaled", "scaled"],
]);

/** The lengths at which a curve is read: 720 and 3,000, or its end. */
export function lengths(results: Results, curve: Curve): number[] {
  const { short } = results.bench.size;
  const last = results.rounds(curve);
  return last > short && results.regrets(curve, short) ? [short, last] : [last];
}

/** A cell for each length that both curves have. The second is a curve, or how it differs from the first. */
export function beats(
  results: Results,
  better: Curve,
  other: Curve | Parameters<Results["counterpart"]>[1],
  measure: Measure = "regret",
): CellOfClaim[] {
  const worse = "runs" in other ? other : results.counterpart(better, other);
  if (!worse) return [];
  return [...new Set([...lengths(results, better), ...lengths(results, worse)])].flatMap((t) => {
    const [a, b] = [results.regrets(better, t, measure), results.regrets(worse, t, measure)];
    return a && b ? [cellOf(better, minus(a, b), { t, against: worse.name })] : [];
  });
}

/**
 * The fine-tuned curves that claims about exp speak of: with the paper's
 * metadata, which it does not say how to scale, and without. What is varied
 * otherwise (votes that count cost, mu, lambda, ..) is another world, or a
 * question of its own.
 */
export function expCurves(results: Results, experiment: string): Curve[] {
  return results
    .curves({ experiment, group: "exp" })
    .filter(({ variant }) => METADATA.has(variant));
}

/** exp against ctrl, weighting by weighting. */
export function tunedPairs(
  results: Results,
  experiment: string,
  of: (curve: Curve) => boolean = () => true,
): CellOfClaim[] {
  const tuned = expCurves(results, experiment).filter(of);
  return tuned.flatMap((curve) => beats(results, curve, { group: "ctrl" }));
}

/** The paper's two best weightings, fine-tuned. */
export function excelExp(results: Results, experiment: string): Curve[] {
  return expCurves(results, experiment).filter(({ weighting }) => weighting.startsWith("excel"));
}

/**
 * A fine-tuned curve against prompts with so many queries in the same world:
 * OpenAItext's where they are here, else those of the curve's own encoder.
 */
export function promptRivals(
  results: Results,
  curve: Curve,
  examples: number,
  by: Measure | "convergence" = "regret",
): CellOfClaim[] {
  const { experiment, form, voteScale } = curve;
  const all = results.curves({
    experiment,
    form,
    voteScale,
    variant: "",
    group: "prompt",
    examples,
  });
  const openai = all.filter(({ encoder }) => encoder === OPENAI);
  const rivals =
    openai.length > 0 ? openai : all.filter(({ encoder }) => encoder === curve.encoder);
  return rivals.flatMap((rival) => {
    if (by !== "convergence") return beats(results, curve, rival, by);
    // Over the same rounds, where one is followed longer than the other.
    const t = sharedRounds(results, curve, rival);
    const last = (c: Curve) => slopes(results, c, (2 / 3) * t, t);
    // Slopes in the unit of the regret they would add up to, to stand beside regrets.
    const differences = minus(last(curve), last(rival)).map((d) => (d * t) / 3);
    return [cellOf(curve, differences, { t, against: rival.name, of: ", last third" })];
  });
}

/** The rounds that both curves have. */
export function sharedRounds(results: Results, a: Curve, b: Curve): number {
  return Math.min(results.rounds(a), results.rounds(b));
}

/** Each run's mean regret a round between two rounds. */
export function slopes(results: Results, curve: Curve, from: number, to: number): number[] {
  const all = results.rounds(curve);
  return results.slopes(curve, from / all, to / all);
}

/** Of curves that should be OpenAItext's: those where they are here, else all. */
export function standingIn(results: Results, curves: readonly Curve[]): Curve[] {
  const hasOpenai = results.encoders.some(({ name }) => name === OPENAI);
  return curves.filter(({ encoder }) => !hasOpenai || encoder === OPENAI);
}

export function withStandIn(results: Results, finding: Finding): Finding {
  if (results.encoders.some(({ name }) => name === OPENAI)) return finding;
  if (finding.cells.length === 0) return finding;
  const noted = withNote(finding, "each encoder's own in place of OpenAItext's");
  return { ...noted, standIns: [...(finding.standIns ?? []), OPENAI] };
}

/** The slope of the last third less 0.8 of that of the first. */
export function flattens(results: Results, curve: Curve): CellOfClaim {
  const [first, last] = [results.slopes(curve, 0, 1 / 3), results.slopes(curve, 2 / 3, 1)];
  return cellOf(curve, minus(last, first, 0.8), {});
}

/** A cell where both have costs over the same number of rounds. */
export function cheaper(results: Results, thrifty: Curve, dear: Curve): CellOfClaim[] {
  if (results.rounds(thrifty) !== results.rounds(dear)) return [];
  const [a, b] = [costsOf(results, thrifty), costsOf(results, dear)];
  return a && b ? [cellOf(thrifty, minus(a, b), { against: dear.name })] : [];
}

function costsOf(results: Results, curve: Curve): number[] | undefined {
  const costs = results.runs(curve).flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return costs.length === curve.runs.length ? costs : undefined;
}

/** Each run's regret after a share of its rounds. */
export function regretAfter(results: Results, curve: Curve, share: number): number[] {
  const rounds = (1 - share) * results.rounds(curve);
  return results.slopes(curve, share, 1).map((slope) => slope * rounds);
}

/** The regret a round in the last third of what comes after a share of the rounds, less that in its first third. */
export function fallsAfter(results: Results, curve: Curve, share: number): CellOfClaim {
  const third = (i: number) => share + ((1 - share) * i) / 3;
  const [early, late] = [
    results.slopes(curve, share, third(1)),
    results.slopes(curve, third(2), 1),
  ];
  return cellOf(curve, minus(late, early), { of: ", its slope" });
}

/**
 * The exponent of T in the linear world, less the 0.6 that it must stay below.
 * What is promised for large T is not refuted by runs of some length.
 */
export function exponents(results: Results): Finding {
  const cells = results
    .curves({ experiment: LINEAR, policy: "fgts-cdb" })
    .map((curve): CellOfClaim => {
      const rounds = results.rounds(curve);
      const [late, early] = [results.regrets(curve)!, results.regrets(curve, rounds / 2)!];
      const differences = late.map((regret, i) => Math.log2(regret / early[i]!) - 0.6);
      return cellOf(curve, differences, {});
    });
  const finding = decide(cells, { unit: "exponent to 0.6" });
  return finding.refuted ? { ...finding, refuted: false } : finding;
}

export function withNote(finding: Finding, note: string): Finding {
  return { ...finding, evidence: `${finding.evidence} (${note})` };
}

export function onMixInstruct({ bench: { data } }: Results, finding: Finding): Finding {
  if (!("standIn" in data.mixinstruct) || finding.cells.length === 0) return finding;
  const noted = withNote(finding, "on the stand-in for MixInstruct");
  return { ...noted, standIns: [...(finding.standIns ?? []), "MixInstruct"] };
}
