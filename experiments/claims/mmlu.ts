/** Sections 3 and 4: theory, the failing examples, and what fine-tuning does to them. */
import type { Claim } from "../../src/reproduce/experiment.ts";
import { type CellOfClaim, decide, minus } from "../../src/reproduce/verdict.ts";
import { propositionOne } from "../proposition.ts";
import {
  beats,
  eachEncoder,
  exponents,
  flattens,
  labelOf,
  standingIn,
  TWO_THIRDS,
  withNote,
  withStandIn,
} from "./cells.ts";

export const mmluClaims: readonly Claim[] = [
  {
    id: 1,
    place: "4.1, fig. 1",
    statement: "On MMLU the slopes of OpenAItext_mean and OpenAItext_prompt almost do not change.",
    needs: ["mmlu"],
    criterion: `The regret a round in the last third is at least 0.8 of that in the first third: the interval of 0.8 first - last lies below 0 ${TWO_THIRDS} (mean, prompt; vote scales).`,
    test: (results) => {
      const curves = standingIn(
        results,
        results.curves({ experiment: "mmlu", variant: "" }),
      ).filter(({ epochs, group }) => epochs === 0 && (group === "ctrl" || group === "prompt"));
      const cells = curves.map((curve) => ({
        label: labelOf(curve),
        differences: minus(
          results.slopes(curve, 2 / 3, 1),
          results.slopes(curve, 0, 1 / 3),
          0.8,
        ).map((d) => -d),
      }));
      return withStandIn(results, decide(cells, { unit: "slope" }));
    },
  },
  {
    id: 2,
    place: "4.1, fig. 1",
    statement: "On MMLU the slope of the fine-tuned MiniLM falls with the rounds.",
    needs: ["mmlu"],
    criterion: `The regret a round in the last third is below 0.8 of that in the first third: the interval of last - 0.8 first lies below 0 ${TWO_THIRDS}.`,
    test: (results) => {
      const all = results.curves({ experiment: "mmlu", variant: "", group: "exp" });
      const own = all.filter(({ encoder }) => encoder === "MiniLM");
      const finding = decide(
        (own.length > 0 ? own : all).map((curve) => flattens(results, curve)),
        {
          unit: "slope",
          without: "no encoder here can be fine-tuned",
        },
      );
      return own.length > 0
        ? finding
        : withNote(finding, "with the encoders that are here in place of MiniLM");
    },
  },
  {
    id: 3,
    place: "A.1",
    statement: "The Hadamard product makes better features than addition.",
    needs: ["mmlu"],
    criterion: `Regret with the product is below that with addition, the same curve otherwise, ${TWO_THIRDS}.`,
    test: (results) => {
      const curves = results.curves({ experiment: "mmlu", variant: "", policy: "fgts-cdb" });
      return decide(curves.flatMap((curve) => beats(results, curve, { variant: "added" })));
    },
  },
  {
    id: 4,
    place: "4.2, fig. 2",
    statement: "An encoder as it is already clusters categories, and fine-tuning sharpens that.",
    needs: ["mmlu"],
    criterion: `Over MMLU's queries the mean cosine within a topic less that across topics is above 0 before, and larger after fine-tuning than before: both intervals, ${TWO_THIRDS} (encoders).`,
    test: (results) => {
      const cells = eachEncoder(results).flatMap(({ name, epochs }): CellOfClaim[] => {
        const gap = (epochs: number) => {
          const found = results.bench.descriptions.find(
            (one) => one.experiment === "mmlu" && one.encoder === name && one.epochs === epochs,
          );
          return (
            found && results.descriptions(found.runs).map(({ within, across }) => within - across)
          );
        };
        const [before, after] = [gap(0), gap(epochs.at(-1) ?? 0)];
        if (!before) return [];
        const first = { label: `${name} before`, differences: before.map((value) => -value) };
        if (!after || epochs.length === 0) return [first];
        return [first, { label: `${name} after`, differences: minus(before, after) }];
      });
      return decide(cells, { unit: "cosine gap" });
    },
  },
  {
    id: 5,
    place: "4.2",
    statement: "The failure on MMLU lies in the model embeddings, not in the encoder.",
    needs: ["mmlu"],
    criterion: `With the encoder as it was, (a) the nearest topic's expert (zero-feedback) has less regret than FGTS.CDB on topic means, so that the vectors know the topic, and (b) so has FGTS.CDB on the same means less their mean, so that model embeddings alone make the difference: ${TWO_THIRDS} of both.`,
    test: (results) => {
      const failing = results.curves({ experiment: "mmlu", variant: "", group: "ctrl" });
      const cells = failing.flatMap((curve) => {
        const knows = results.curves({
          experiment: "mmlu",
          variant: "as it was",
          encoder: curve.encoder,
          voteScale: curve.voteScale,
        });
        const centred = results.counterpart(curve, { variant: "centred" });
        return [...knows, ...(centred ? [centred] : [])].flatMap((better) =>
          beats(results, better, curve),
        );
      });
      return decide(cells);
    },
  },
  {
    id: 6,
    place: "4.2, proposition 1",
    statement:
      "The mean embedding of the queries with label k is an unbiased estimate of the label-weighted category means, for equal category sizes.",
    needs: [],
    criterion:
      "Monte Carlo: the 95% interval of the mean error holds 0 in at least two thirds of the coordinates at equal sizes. Beside it: unequal sizes, and weights 1/n_m.",
    test: () => propositionOne(),
  },
  {
    id: 7,
    place: "3",
    statement: "Under a linear model regret grows like sqrt(T).",
    needs: ["mmlu"],
    criterion: `The exponent log2(R(T) / R(T/2)) at the last round is below 0.6: its interval, ${TWO_THIRDS} (dimensions, vote scales).`,
    test: (results) => exponents(results),
  },
];
