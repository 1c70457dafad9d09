/** Section 5.1: RouterBench. */

import { mean } from "../../../core/statistics.ts";
import type { Curve } from "../../reproduce/curve.ts";
import { WEIGHTINGS } from "../../reproduce/setting.ts";
import { type Cell, minus } from "../../reproduce/verdict.ts";
import {
  beats,
  cellOf,
  cheaper,
  excelExp,
  expCurves,
  flattens,
  lengths,
  promptRivals,
  sharedRounds,
  standingIn,
  TWO_THIRDS,
  tunedPairs,
} from "./cells.ts";
import type { ClaimDraft } from "./claim.ts";

/** The figures of runs on RouterBench. */
const RUNS = /^routerbench-.*_E\d+-\d+$/;

export const routerbenchClaims: readonly ClaimDraft[] = [
  {
    id: 8,
    place: "5.1, fig. 2a",
    shownBy: RUNS,
    about: ["OpenAItext"],
    statement: "The number of queries in a prompt does not matter much.",
    criterion: `Between 1, 3 and 5 example queries regret differs by less than 10%: the interval of |difference| minus a tenth of the smaller mean lies below 0 ${TWO_THIRDS}.`,
    parts: (results) => {
      const prompts = results.curves({ experiment: "routerbench", variant: "", group: "prompt" });
      const cells = standingIn(results, prompts).flatMap((curve) =>
        [1, 3]
          .filter((examples) => examples < curve.examples)
          .flatMap((examples): Cell[] => {
            const other = results.counterpart(curve, { examples });
            if (!other) return [];
            const t = sharedRounds(results, curve, other);
            const [a, b] = [results.regrets(curve, t), results.regrets(other, t)];
            if (!a || !b) return [];
            const level = 0.1 * Math.min(mean(a), mean(b));
            const gaps = minus(a, b);
            const sign = mean(gaps) < 0 ? -1 : 1;
            const runs = gaps.map((gap) => sign * gap - level);
            return [cellOf(curve, runs, { t, against: String(examples) })];
          }),
      );
      return [{ unit: "|difference of regret| minus 10%", cells }];
    },
  },
  {
    id: 9,
    place: "5.1, fig. 2b",
    shownBy: RUNS,
    statement: "On RouterBench fine-tuned encoders (exp) beat the original ones (ctrl).",
    criterion: `Regret of exp is below that of ctrl, weighting by weighting, without metadata and with it, ${TWO_THIRDS}.`,
    parts: (results) => [{ cells: tunedPairs(results, "routerbench") }],
  },
  {
    id: 10,
    place: "5.1, fig. 2b",
    shownBy: RUNS,
    about: ["OpenAItext"],
    statement: "Excel_perf_cost_exp and Excel_mask_exp beat OpenAItext_5.",
    criterion: `Regret of each of the two curves, without metadata and with it, is below that of the prompts with five queries ${TWO_THIRDS}.`,
    parts: (results) => [{ cells: promptRivals(results, excelExp(results, "routerbench"), 5) }],
  },
  {
    id: 11,
    place: "5.1, fig. 6",
    shownBy: RUNS,
    about: ["OpenAItext"],
    statement: "Both observations (9 and 10) hold for all tuned encoders.",
    criterion:
      "Claims 9 and 10 hold separately for every available encoder and every number of epochs.",
    parts: (results) =>
      results.encoders.flatMap(({ name, epochs: all }) =>
        all.flatMap((epochs) => {
          const of = (curve: Curve) => curve.encoder === name && curve.epochs === epochs;
          const excel = excelExp(results, "routerbench", of);
          return [
            { name: `${name}_E${epochs}, claim 9`, cells: tunedPairs(results, "routerbench", of) },
            { name: `${name}_E${epochs}, claim 10`, cells: promptRivals(results, excel, 5) },
          ];
        }),
      ),
  },
  {
    id: 12,
    place: "5.1",
    shownBy: RUNS,
    about: ["e5b"],
    statement:
      "Excel_perf_cost beats Perf_cost: weight only the categories in which a model excels.",
    criterion: `Regret of Excel_perf_cost is below that of Perf_cost, exp against exp, without metadata and with it, ${TWO_THIRDS}.`,
    parts: (results) => {
      const excel = expCurves(
        results,
        "routerbench",
        ({ weighting }) => weighting === "excel_perf_cost",
      );
      const rival = { weighting: "perf_cost" };
      return [{ cells: excel.flatMap((curve) => beats(results, curve, rival)) }];
    },
  },
  {
    id: 13,
    place: "B.2",
    shownBy: RUNS,
    statement: "Excel_perf_cost and Excel_mask are the most effective weightings in most cases.",
    criterion: `A cell compares the four exp curves with the same encoder, epochs, form and vote scale. The better of the two Excel curves (the one with the lower mean) has less regret than the better of the other two, without metadata and with it, ${TWO_THIRDS}.`,
    parts: (results) => {
      const perf = expCurves(results, "routerbench", ({ weighting }) => weighting === "perf");
      const cells = perf.flatMap((curve) =>
        lengths(results, curve).flatMap((t): Cell[] => {
          const all = WEIGHTINGS.flatMap((weighting) => {
            const own = results.counterpart(curve, { weighting });
            const regrets = own && results.regrets(own, t);
            return regrets ? [{ curve: own, regrets }] : [];
          });
          if (all.length < WEIGHTINGS.length) return [];
          // Each side is the better of two curves, so the choice favours neither side.
          const better = (excel: boolean) =>
            all
              .filter(({ curve }) => curve.weighting.startsWith("excel") === excel)
              .reduce((a, b) => (mean(b.regrets) < mean(a.regrets) ? b : a));
          const [own, rival] = [better(true), better(false)];
          const runs = minus(own.regrets, rival.regrets);
          return [cellOf(own.curve, runs, { t, against: rival.curve.name })];
        }),
      );
      return [{ cells }];
    },
  },
  {
    id: 14,
    place: "5.1",
    shownBy: /^routerbench-.*-all$/,
    statement: "e5b_E4 performs best of all encoders.",
    criterion: `Regret of e5b_E4 under the excel weightings is below that of every other tuned encoder and of e5b_E2 ${TWO_THIRDS}.`,
    without: "the weights of e5b are missing (joust models get e5b downloads them)",
    parts: (results) => {
      const own = excelExp(
        results,
        "routerbench",
        ({ encoder, epochs }) => encoder === "e5b" && epochs === 4,
      );
      const rivals = results.encoders
        .flatMap(({ name, epochs }) => epochs.map((count) => ({ encoder: name, epochs: count })))
        .filter(({ encoder, epochs }) => encoder !== "e5b" || epochs !== 4);
      const cells = own.flatMap((curve) => rivals.flatMap((one) => beats(results, curve, one)));
      return [{ cells }];
    },
  },
  {
    id: 15,
    place: "5.1",
    shownBy: /^routerbench-lambda$/,
    statement: "lambda trades performance against cost.",
    criterion: `With Excel_perf_cost, lambda = 0.2 in the weighting makes a query cheaper than lambda = 0: the interval of the difference of costs lies below 0 ${TWO_THIRDS} (vote scales). A duel of two models costs both answers. The change of Perf is reported too.`,
    parts: (results) => {
      const thrifty = results.curves({ experiment: "routerbench", variant: "lambda=0.2" });
      const cells = thrifty.flatMap((curve) =>
        cheaper(results, curve, results.counterpart(curve, { variant: "lambda=0" })),
      );
      return [{ unit: "cost per query", cells }];
    },
    note: (results) => {
      const score = (lambda: number) => {
        const curves = results.curves({ experiment: "routerbench", variant: `lambda=${lambda}` });
        return mean(curves.map((curve) => mean(results.runs(curve).map((run) => run.score))));
      };
      const lost = score(0) - score(0.2);
      return `Perf per query is ${Math.abs(lost).toFixed(3)} ${lost < 0 ? "higher" : "lower"}`;
    },
  },
  {
    id: 16,
    place: "B.3",
    shownBy: /^routerbench-variations$/,
    statement: "35 offline queries suffice.",
    needs: ["routerbench", "unseen"],
    criterion: `The paper compares with the 30% of the data that MixLLM needs, and measures nothing for it. Here: regret with 5 offline queries per benchmark is less than 10% above that with 15, (a) for the original encoder on RouterBench, where transformers are not fine-tuned on 15 queries, and (b) for the fine-tuned ideal curves of the unseen benchmark: the interval of R(5) - 1.1 R(15) lies below 0, each of the two ${TWO_THIRDS}.`,
    parts: (results) => {
      const cell = (few: Curve | undefined, more: Curve): Cell[] => {
        const t = results.rounds(more);
        const [own, other] = [few && results.regrets(few, t), results.regrets(more, t)];
        return own && other ? [cellOf(more, minus(own, other, 1.1), { t, against: "5" })] : [];
      };
      const known = results
        .curves({ experiment: "routerbench", variant: "15 offline" })
        .flatMap((more) => cell(results.counterpart(more, { variant: "" }), more));
      const tuned = results
        .curves({ experiment: "unseen", variant: "", group: "ideal" })
        .flatMap((more) => cell(results.counterpart(more, { variant: "5 offline" }), more));
      return [
        { name: "(a)", cells: known, unit: "R(5) - 1.1 R(15)" },
        { name: "(b)", cells: tuned, unit: "R(5) - 1.1 R(15)" },
      ];
    },
  },
  {
    id: 17,
    place: "1, 4.1",
    needs: ["convergence"],
    shownBy: /^convergence-curves$/,
    statement: "Curves converge to the best model for each query, not to one fixed model.",
    criterion: `In the last third of the longest runs (T = 3,000; fewer in a quick run) the regret per round of the Excel exp curves is (a) below 0.8 of their own in the first third and (b) below that of the best fixed model: each of the two ${TWO_THIRDS}.`,
    parts: (results) => {
      const experiment = "convergence";
      const pairs = excelExp(results, experiment).flatMap((curve) => {
        const { voteScale } = curve;
        const [rival] = results.curves({ experiment, voteScale, policy: "best-fixed" });
        return rival ? [{ curve, rival }] : [];
      });
      const last = (curve: Curve) => results.slopes(curve, 2 / 3, 1);
      const below = pairs.map(({ curve, rival }) =>
        cellOf(curve, minus(last(curve), last(rival)), { against: rival.name }),
      );
      return [
        { name: "(a)", unit: "slope", cells: pairs.map(({ curve }) => flattens(results, curve)) },
        { name: "(b)", unit: "slope", cells: below },
      ];
    },
  },
];
