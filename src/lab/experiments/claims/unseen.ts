/** Section 5.1.1: a benchmark that is unknown in advance. */
import { type Cell, minus } from "../../reproduce/verdict.ts";
import {
  beats,
  cellOf,
  excelExp,
  fallsAfter,
  promptRivals,
  regretAfter,
  TWO_THIRDS,
  tunedPairs,
} from "./cells.ts";
import type { ClaimDraft } from "./claim.ts";

/** The figures of runs with an unseen benchmark. */
const UNSEEN = /^unseen-.*_E\d+$/;
/** The share of the rounds before ARC is added: 300 of 720, and the same share of shorter runs. */
const SHIFT = 300 / 720;

export const unseenClaims: readonly ClaimDraft[] = [
  {
    id: 18,
    place: "5.1.1, fig. 2d",
    shownBy: UNSEEN,
    statement: "With an unseen benchmark fine-tuned encoders (exp) beat the original ones (ctrl).",
    criterion: `Regret of exp is below that of ctrl ${TWO_THIRDS}.`,
    parts: (results) => [{ cells: tunedPairs(results, "unseen") }],
  },
  {
    id: 19,
    place: "5.1.1, fig. 2d, and the abstract (robustness)",
    shownBy: UNSEEN,
    about: ["OpenAItext"],
    statement: "With an unseen benchmark the Excel exp curves beat OpenAItext_1.",
    criterion: `Regret of each of the two Excel exp curves is below that of the prompts with one query ${TWO_THIRDS}.`,
    parts: (results) => [{ cells: promptRivals(results, excelExp(results, "unseen"), 1) }],
  },
  {
    id: 20,
    place: "5.1.1",
    shownBy: UNSEEN,
    statement:
      "Knowing the unseen benchmark in advance (ideal) is not always better than not (exp).",
    criterion: `"Not always" needs one exception: exp has less regret than ideal in at least one cell, by an interval that is corrected for the number of cells (Holm's correction, 5% over all cells), or ${TWO_THIRDS}. Refuted if ideal has less regret ${TWO_THIRDS}; otherwise open.`,
    parts: (results) => {
      const exp = results.curves({ experiment: "unseen", group: "exp", variant: "" });
      const cells = exp.flatMap((curve) => beats(results, curve, { group: "ideal" }));
      return [{ rule: "exception", cells }];
    },
  },
  {
    id: 21,
    place: "5.1.1",
    shownBy: UNSEEN,
    statement: "The method adapts to the unseen benchmark.",
    criterion: `After ARC is added, (a) the regret per round of the Excel exp curves falls: the interval of the last third minus the first third of the second section lies below 0. Learning the other benchmarks further lowers it too, so (b) regret in the second section is less than 10% above that of ideal, which knew ARC: the interval of R(exp) - 1.1 R(ideal) lies below 0. Each of the two ${TWO_THIRDS}.`,
    parts: (results) => {
      const own = excelExp(results, "unseen");
      const near = own.flatMap((curve): Cell[] => {
        const ideal = results.counterpart(curve, { group: "ideal" });
        if (!ideal) return [];
        const [a, b] = [curve, ideal].map((one) => regretAfter(results, one, SHIFT));
        return [cellOf(curve, minus(a!, b!, 1.1), { against: ideal.name })];
      });
      const falls = own.map((curve) => fallsAfter(results, curve, SHIFT));
      return [
        { name: "(a)", cells: falls, unit: "slope" },
        { name: "(b)", cells: near, unit: "R(exp) - 1.1 R(ideal)" },
      ];
    },
  },
];
