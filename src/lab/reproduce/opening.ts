/** The first view of the report, fit for a talk: one figure and three sentences, all from the results. */

import { mean } from "../../core/statistics.ts";
import type { Picture } from "../report/svg.ts";
import { fixed } from "../report/table.ts";
import { asSentence, intervalText, titleWith, verdictCounts } from "./claims-report.ts";
import type { Curve } from "./curve.ts";
import type { Reproduced } from "./experiment.ts";
import { curvesFigure } from "./report-items.ts";
import type { Results } from "./results.ts";
import { byMetadata, type JudgedPart } from "./verdict.ts";

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
  const own = curves.tuned.length > 0 ? curves.tuned : curves.original;
  const never = `after ${size.short} rounds, the router that always chooses the model with the best told score in the nearest benchmark (zero-feedback) has a regret of ${ends(curves.zero)}, this project's policy joust ${ends(curves.joust)}, and the paper's FGTS.CDB with Excel_perf_cost${curves.tuned.length > 0 ? ", fine-tuned," : ""} ${ends(own)}, depending on the noise of the votes`;
  const elsewhere = others.map((other) => {
    const zero = results.curves({ ...baseline, form: other });
    const joust = results.curves({ ...setting, policy: "joust", epochs, form: other });
    const isBelow =
      Math.max(...joust.map((curve) => regretOf(results, curve))) <
      Math.min(...zero.map((curve) => regretOf(results, curve)));
    const order = isBelow ? ", the order is reversed" : "";
    return `. On queries of the form ${other} (described below)${order}: zero-feedback has ${ends(zero)} and joust ${ends(joust)}`;
  });
  return {
    sentences: [
      ...tuningText(judged),
      beaten
        ? `Votes can pay even if exact scores are told in advance: ${never}${elsewhere.join("")}.`
        : `If exact scores are told in advance, votes add nothing in this figure: ${never}${elsewhere.join("")}.`,
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
  const effect = ({ cells, pooled }: JudgedPart, what: string) => {
    const verb = pooled.hi < 0 ? "lowers" : pooled.lo > 0 ? "raises" : "does not clearly change";
    return `${what} ${verb} the regret of the paper's method: the mean difference over ${cells.length} comparisons is ${intervalText(pooled, cells)}.`;
  };
  const halves = byMetadata(part);
  const tuning = "fine-tuning the encoder on a few queries per benchmark";
  return [
    halves
      ? `${effect(halves.without, `Without appended metadata, ${tuning}`)} ${effect(halves.having, "With the metadata, as in the paper, it")}`
      : effect(part, asSentence(tuning)),
  ];
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
