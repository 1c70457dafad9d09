/** The first view of the report, fit for a talk: one figure and three sentences, all from the results. */

import { mean } from "../../core/statistics.ts";
import type { Picture } from "../report/svg.ts";
import { fixed } from "../report/table.ts";
import { intervalText, titleWith, verdictCounts } from "./claims-report.ts";
import type { Curve } from "./curve.ts";
import type { Reproduced } from "./experiment.ts";
import { curvesFigure } from "./report-items.ts";
import type { Results } from "./results.ts";
import { type JudgedPart, withoutMetadata } from "./verdict.ts";

interface Opening {
  readonly sentences: readonly string[];
  readonly pictures: readonly Picture[];
  readonly caption: string;
}

/** Undefined if RouterBench was not run. */
export function openingOf({
  results,
  judged,
  parts,
}: Pick<Reproduced, "results" | "judged" | "parts">): Opening | undefined {
  const { main, size } = results.planner;
  const setting = { experiment: "routerbench", variant: "", encoder: main.name };
  const epochs = main.epochs.at(-1) ?? 0;
  const excel = { ...setting, weighting: "excel_perf_cost", epochs };
  const baseline = { ...setting, policy: "zero-feedback", epochs } as const;
  const [form, ...others] = new Set(results.curves(baseline).map((curve) => curve.form));
  if (form === undefined) return undefined;
  const find = (attributes: Partial<Curve>) => results.curves({ ...attributes, form });
  const curves = {
    tuned: find({ ...excel, group: "exp" }),
    original: find({ ...excel, group: "ctrl" }),
    zero: find(baseline),
    joust: find({ ...setting, policy: "joust", epochs }),
    fixed: find({ ...setting, policy: "best-fixed" }),
    random: find({ ...setting, policy: "random" }),
  };
  const standIn = parts.find(({ experiment }) => experiment.name === "routerbench")?.standIn;
  const figure = curvesFigure({
    id: "opening",
    title: "",
    caption: "",
    curves: Object.values(curves).flat(),
    rounds: size.short,
  }).draw(results);
  const ends = (own: readonly Curve[]) => range(own.map((curve) => regretOf(results, curve)));
  const learners = [...curves.tuned, ...curves.original, ...curves.joust];
  const beaten = curves.zero.some((zero) =>
    learners.some(
      (one) => one.voteScale === zero.voteScale && regretOf(results, one) < regretOf(results, zero),
    ),
  );
  const never = `after ${size.short} rounds, zero-feedback, which always chooses the model with the best told score in the nearest benchmark, has a regret of ${ends(curves.zero)}, joust of ${ends(curves.joust)}, and FGTS.CDB with Excel_perf_cost of ${ends([...curves.tuned, ...curves.original])}`;
  const elsewhere = others.map((other) => {
    const zero = results.curves({ ...baseline, form: other });
    const joust = results.curves({ ...setting, policy: "joust", epochs, form: other });
    return `; if the form of the queries is ${other}, zero-feedback has ${ends(zero)} and joust ${ends(joust)}`;
  });
  return {
    sentences: [
      ...tuningText(judged),
      beaten
        ? `Votes can pay even if exact scores are told in advance: ${never}${elsewhere.join("")}.`
        : `If exact scores are told in advance, no learner of this figure beats the router that never learns: ${never}${elsewhere.join("")}.`,
      `Of the paper's claims ${verdictCounts(judged, false)}.`,
    ],
    pictures: figure.kind === "figure" ? figure.pictures : [],
    caption: `${titleWith(standIn, `RouterBench, ${form}`)}, ${main.name}${epochs > 0 ? ` fine-tuned for ${epochs} epochs` : ""}: cumulative regret by round at each vote scale; a larger scale means less noisy votes. The number after a name is the regret at the end.`,
  };
}

/** The effect of fine-tuning, as claim 9 measures it. Empty if nothing could be fine-tuned. */
function tuningText(judged: Reproduced["judged"]): string[] {
  const part = judged.find(({ claim }) => claim.id === 9)?.parts[0];
  if (!part) return [];
  const plain = withoutMetadata(part);
  const effect = ({ cells, pooled }: JudgedPart) => {
    const verb = pooled.hi < 0 ? "lowers" : pooled.lo > 0 ? "raises" : "does not clearly change";
    return `${verb} the regret of the paper's method: the difference is ${intervalText(pooled, cells)} on average over ${cells.length} settings`;
  };
  return plain
    ? [
        `Fine-tuning the encoder on a few queries per benchmark ${effect(plain)} without metadata; over all ${part.cells.length} settings, with metadata too, it is ${intervalText(part.pooled, part.cells)}.`,
      ]
    : [`Fine-tuning the encoder on a few queries per benchmark ${effect(part)}.`];
}

function regretOf(results: Results, curve: Curve): number {
  const { short } = results.planner.size;
  return mean(results.regrets(curve, short) ?? results.regrets(curve)!);
}

/** `10.0 to 18.5`, or one number if both are the same. */
function range(values: readonly number[]): string {
  const [low, high] = [fixed(Math.min(...values), 1), fixed(Math.max(...values), 1)];
  return low === high ? low : `${low} to ${high}`;
}
