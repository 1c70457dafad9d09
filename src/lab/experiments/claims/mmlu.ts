/** Sections 3 and 4: theory, the failing examples, and the effect of fine-tuning on them. */

import { mean } from "../../../core/statistics.ts";
import type { DescribeValue } from "../../reproduce/jobs/specs.ts";
import type { Results } from "../../reproduce/results.ts";
import { minus } from "../../reproduce/verdict.ts";
import { beats, cellOf, flattens, standingIn, TWO_THIRDS } from "./cells.ts";
import type { ClaimDraft } from "./claim.ts";
import { biasText, propositionOne } from "./proposition.ts";

export const mmluClaims: readonly ClaimDraft[] = [
  {
    id: 1,
    place: "4.1, fig. 1",
    about: ["OpenAItext"],
    statement: "On MMLU the slopes of OpenAItext_mean and OpenAItext_prompt almost do not change.",
    criterion: `The regret per round in the last third is at least 0.8 of that in the first third: the interval of 0.8 first - last lies below 0 ${TWO_THIRDS} (mean, prompt; vote scales).`,
    parts: (results) => {
      const all = standingIn(
        results,
        results.curves({ experiment: "mmlu", variant: "", epochs: 0 }),
      );
      const curves = all.filter(({ group }) => group === "ctrl" || group === "prompt");
      const cells = curves.map((curve) => {
        const cell = flattens(results, curve);
        return { ...cell, runs: cell.runs.map((d) => -d) };
      });
      return [{ unit: "slope", cells }];
    },
  },
  {
    id: 2,
    place: "4.1, fig. 1",
    statement: "On MMLU the slope of the fine-tuned MiniLM falls with the rounds.",
    criterion: `After four epochs of fine-tuning the regret per round in the last third is below 0.8 of that in the first third: the interval of last - 0.8 first lies below 0 ${TWO_THIRDS} (vote scales).`,
    parts: (results) => {
      const all = results.curves({ experiment: "mmlu", variant: "", group: "exp" });
      const paper = all.filter(({ encoder, epochs }) => encoder === "MiniLM" && epochs === 4);
      const cells = (paper.length > 0 ? paper : all).map((curve) => flattens(results, curve));
      return [{ unit: "slope", cells }];
    },
  },
  {
    id: 3,
    place: "A.1",
    statement: "The Hadamard product makes better features than addition.",
    criterion: `Regret with the product is below that with addition, the same curve otherwise, ${TWO_THIRDS}.`,
    parts: (results) => {
      const curves = results.curves({ experiment: "mmlu", variant: "", policy: "fgts-cdb" });
      return [{ cells: curves.flatMap((curve) => beats(results, curve, { variant: "added" })) }];
    },
  },
  {
    id: 4,
    place: "4.2, fig. 5",
    shownBy: /^mmlu-tsne$/,
    statement: "An encoder as it is already clusters categories, and fine-tuning sharpens that.",
    criterion: `The gap is the mean cosine of two online queries of one topic minus that of two online queries of different topics. It is (a) above 0 before fine-tuning and (b) larger after fine-tuning than before: each of the two ${TWO_THIRDS} (encoders).`,
    parts: (results) => {
      const states = clusterStates(results);
      const before = states.map(({ name, before }) => ({
        label: `${name}, original`,
        runs: gaps(before).map((gap) => -gap),
      }));
      const sharpened = states.flatMap(({ name, epochs, before, after }) =>
        after ? [{ label: `${name}_E${epochs}`, runs: minus(gaps(before), gaps(after)) }] : [],
      );
      return [
        { name: "(a)", cells: before, unit: "cosine across topics minus cosine within a topic" },
        { name: "(b)", cells: sharpened, unit: "gap before minus gap after" },
      ];
    },
    note: (results) => {
      const share = (values: readonly DescribeValue[]) =>
        `${(100 * mean(values.map(({ accuracy }) => accuracy))).toFixed(0)}%`;
      const shares = clusterStates(results).flatMap(({ name, epochs, before, after }) =>
        after ? [`${name}_E${epochs} ${share(after)}, original ${share(before)}`] : [],
      );
      return `queries nearest to their own topic: ${shares.join("; ")}`;
    },
  },
  {
    id: 5,
    place: "4.2",
    statement: "The failure on MMLU most likely lies in the model embeddings, not in the encoder.",
    criterion: `With the original encoder, (a) zero-feedback, which chooses the expert of the nearest topic, has less regret than FGTS.CDB on topic means, so the query vectors identify the topic; and (b) FGTS.CDB on topic means minus their common mean has less regret than FGTS.CDB on topic means, so the model embeddings alone make the difference: each of the two ${TWO_THIRDS} (vote scales).`,
    parts: (results) => {
      const failing = results.curves({ experiment: "mmlu", variant: "", group: "ctrl" });
      const knows = failing.flatMap((curve) => {
        const { encoder, voteScale } = curve;
        return results
          .curves({ experiment: "mmlu", variant: "original", encoder, voteScale })
          .flatMap((zero) => beats(results, zero, curve));
      });
      const centred = failing.flatMap((curve) => {
        const better = results.counterpart(curve, { variant: "centred" });
        return better ? beats(results, better, curve) : [];
      });
      return [
        { name: "(a)", cells: knows },
        { name: "(b)", cells: centred },
      ];
    },
  },
  {
    id: 6,
    place: "4.2, proposition 1",
    statement:
      "The mean embedding of the queries with label k is an unbiased estimate of the label-weighted category means, for equal category sizes.",
    needs: [],
    criterion:
      "Monte Carlo: at equal sizes the 95% interval of the mean error contains 0 and stays within 0.05 of it (a tenth of a query's spread) in at least two thirds of the coordinates. The errors at unequal sizes, without and with weights 1/n_m, are reported too.",
    parts: () => [propositionOne()],
    note: () => biasText(),
  },
  {
    id: 7,
    place: "3",
    shownBy: /^linear-/,
    statement: "Under a linear model regret grows like sqrt(T) at most, up to logarithms.",
    criterion: `The theory bounds regret from above, for large T: the whole interval of the exponent log2(R(T) / R(T/2)) at the last round lies below 0.6 ${TWO_THIRDS} (dimensions, vote scales). A larger exponent at this T is no refutation.`,
    parts: (results) => {
      const curves = results.curves({ experiment: "linear", policy: "fgts-cdb" });
      const cells = curves.map((curve) => {
        const early = results.regrets(curve, results.rounds(curve) / 2)!;
        const late = results.regrets(curve)!;
        const runs = late.map((regret, i) => Math.log2(regret / early[i]!) - 0.6);
        return cellOf(curve, runs);
      });
      return [{ unit: "exponent minus 0.6", rule: "bound", cells }];
    },
  },
];

/** The queries of each run in the vectors of an encoder, before and after its longest fine-tuning. */
function clusterStates(results: Results) {
  const described = (name: string, epochs: number) => {
    const found = results.planner.descriptions.find(
      (one) => one.experiment === "mmlu" && one.encoder === name && one.epochs === epochs,
    );
    return found && results.descriptions(found.runs);
  };
  return results.encoders.flatMap(({ name, epochs: all }) => {
    const [before, epochs] = [described(name, 0), all.at(-1)];
    return before ? [{ name, epochs, before, after: epochs && described(name, epochs) }] : [];
  });
}

function gaps(values: readonly DescribeValue[]): number[] {
  return values.map(({ within, across }) => within - across);
}
