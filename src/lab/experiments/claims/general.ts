/** Claims about more than one experiment, and claims that the paper makes in passing. */
import { type Cell, minus } from "../../reproduce/verdict.ts";
import {
  beats,
  cellOf,
  cheaper,
  excelExp,
  fallsAfter,
  promptRivals,
  regretAfter,
  TWO_THIRDS,
} from "./cells.ts";
import type { ClaimDraft } from "./claim.ts";

const RUNS = /^routerbench-.*_E\d+-\d+$/;
const TABLE = /^routerbench-.*-table$/;
/** The share of the rounds after which all utilities change. */
const HALF = 1 / 2;

export const generalClaims: readonly ClaimDraft[] = [
  {
    id: 25,
    place: "abstract",
    about: ["OpenAItext", "MixInstruct"],
    statement:
      "On both data sets regret is lower and convergence faster than with OpenAI's embeddings.",
    needs: ["routerbench", "mixinstruct"],
    criterion: `The fine-tuned curves (Excel without metadata and with it, eq. 6) have less regret than prompts with five queries, and less regret per round in the last third of the rounds that both curves have. This must hold on each of the two data sets, each ${TWO_THIRDS}.`,
    parts: (results) => {
      const sets = {
        RouterBench: excelExp(results, "routerbench"),
        MixInstruct: results.curves({ experiment: "mixinstruct", group: "exp" }),
      };
      return Object.entries(sets).flatMap(([name, own]) =>
        (["regret", "convergence"] as const).map((by) => ({
          name: `${name}, ${by}`,
          cells: promptRivals(results, own, 5, by),
          unit: by === "regret" ? by : "regret over the last third",
        })),
      );
    },
    note: () =>
      "regret is compared at each length that both curves have, convergence once, over the longest",
  },
  {
    id: 26,
    place: "3",
    shownBy: /^unseen-change$/,
    statement: "Adaptivity to a changing environment is inherent in the bandit algorithm.",
    needs: ["unseen"],
    criterion: `After a change of all utilities, (a) the regret of FGTS.CDB is less than 10% above that of a new FGTS.CDB that starts at the change: the interval of R(after the change) - 1.1 R(restart) lies below 0. A policy that never learns would meet (a) too, so (b) regret per round must fall: the interval of the last third minus the first third of the rounds after the change lies below 0. Each of the two ${TWO_THIRDS} (vote scales).`,
    parts: (results) => {
      const setting = { experiment: "unseen", variant: "change", policy: "fgts-cdb" };
      const changed = results.curves(setting);
      const afresh = changed.flatMap((curve): Cell[] => {
        const fresh = results.counterpart(curve, { variant: "restart" });
        if (!fresh) return [];
        const [own, other] = [regretAfter(results, curve, HALF), results.regrets(fresh)!];
        return [cellOf(curve, minus(own, other, 1.1))];
      });
      const falls = changed.map((curve) => fallsAfter(results, curve, HALF));
      return [
        { name: "(a)", cells: afresh, unit: "R(after the change) - 1.1 R(restart)" },
        { name: "(b)", cells: falls, unit: "slope" },
      ];
    },
  },
  {
    id: 27,
    place: "3",
    shownBy: /^routerbench-single$/,
    statement: "The feel-good term helps.",
    criterion: `With one weight mu > 0 alone (the weight of the theory, which is too small to have a visible effect, 0.1 or 1), regret is below that with mu = 0 ${TWO_THIRDS} (vote scales). Refuted if regret is above that with mu = 0 for each of the weights.`,
    enough: "some",
    parts: (results) => {
      const off = results.curves({ experiment: "routerbench", variant: "mu=0" });
      return ["", "mu=0.1", "mu=1"].map((variant) => ({
        name: variant || "theory's mu",
        cells: off.flatMap((curve) => {
          const on = results.counterpart(curve, { variant });
          return on ? beats(results, on, curve) : [];
        }),
      }));
    },
  },
  {
    id: 28,
    place: "abstract",
    shownBy: /^routerbench-pointwise$/,
    statement: "Learning from pairwise preferences is label-efficient.",
    criterion: `The paper measures nothing for it. Here: from one vote per round FGTS.CDB has less regret than MixLLM and MetaLLM have from one like or dislike of a single answer per round, on the same vectors (Excel_perf_cost, fine-tuned, without metadata), ${TWO_THIRDS}. These rivals also differ in their algorithm, so the verdict is about the methods, not about the kind of label alone.`,
    parts: (results) => {
      const cells = ["mixllm", "metallm"].flatMap((policy) =>
        results.curves({ experiment: "routerbench", policy }).flatMap((curve) => {
          const duels = results.counterpart(curve, { variant: "", policy: "fgts-cdb" });
          return duels ? beats(results, duels, curve) : [];
        }),
      );
      return [{ cells }];
    },
  },
  {
    id: 29,
    place: "abstract",
    shownBy: TABLE,
    about: ["OpenAItext"],
    statement: "The performance-cost balance is better than with OpenAI's embeddings.",
    criterion: `Under Perf - 0.05 Cost the choices of the Excel exp curves, without metadata and with it, have less regret than those of the prompts with five queries ${TWO_THIRDS}.`,
    parts: (results) => {
      const cells = promptRivals(results, excelExp(results, "routerbench"), 5, "priced");
      return [{ unit: "regret under Perf - 0.05 Cost", cells }];
    },
  },
  {
    id: 30,
    place: "5.1",
    shownBy: TABLE,
    statement: "Excel_perf_cost and Excel_mask incorporate a performance-cost trade-off.",
    criterion: `Tested by cost: a query costs less under each of the two weightings than under Perf, exp against exp, over the same rounds, ${TWO_THIRDS}. A duel of two models costs both answers.`,
    parts: (results) => {
      const cells = excelExp(results, "routerbench").flatMap((curve) =>
        cheaper(results, curve, results.counterpart(curve, { weighting: "perf" })),
      );
      return [{ unit: "cost per query", cells }];
    },
  },
  {
    id: 31,
    place: "not in the paper",
    ours: true,
    shownBy: RUNS,
    statement:
      "Votes teach the router more than what it was told: the Excel exp curves beat zero-feedback, which only uses told scores.",
    criterion: `Regret, without metadata and with it, is below that of zero-feedback on the same vectors ${TWO_THIRDS}.`,
    parts: (results) => {
      const cells = excelExp(results, "routerbench").flatMap((curve) => {
        const { encoder, epochs, form, voteScale } = curve;
        const setting = {
          experiment: "routerbench",
          variant: "",
          encoder,
          epochs,
          form,
          voteScale,
        };
        const [zero] = results.curves({ ...setting, policy: "zero-feedback" });
        return zero ? beats(results, curve, zero) : [];
      });
      return [{ cells }];
    },
  },
];
