/** Section 5.1.1: a benchmark that is unknown in advance. */
import type { Curve } from "../../reproduce/curve.ts";
import { type Cell, decide, decideEach, minus } from "../../reproduce/verdict.ts";
import { holm, pairedDifference } from "../../statistics.ts";
import {
  beats,
  type ClaimDraft,
  cellOf,
  excelExp,
  fallsAfter,
  NO_TUNING,
  promptRivals,
  regretAfter,
  TWO_THIRDS,
  tunedPairs,
  withStandIn,
} from "./cells.ts";
import { CTRL, EXCEL, IDEAL, onUnseen } from "./headlines.ts";

/** The figures of runs with an unseen benchmark. */
const UNSEEN = /^unseen-.*_E\d+$/;
/** The share of the rounds before ARC comes in: 300 of 720, and in the same proportion of fewer. */
const SHIFT = 300 / 720;

export const unseenClaims: readonly ClaimDraft[] = [
  {
    id: 18,
    place: "5.1.1, fig. 3d",
    shownBy: UNSEEN,
    headline: onUnseen("An unseen benchmark: exp beats ctrl", [EXCEL, CTRL]),
    statement: "With an unseen benchmark fine-tuned encoders (exp) beat the original ones (ctrl).",
    criterion: `Regret of exp is below that of ctrl ${TWO_THIRDS}.`,
    test: (results) => decide(tunedPairs(results, "unseen"), NO_TUNING),
  },
  {
    id: 19,
    place: "5.1.1, fig. 3d",
    shownBy: UNSEEN,
    statement: "With an unseen benchmark the Excel exp curves beat OpenAItext_1.",
    criterion: `Regret of either is below that of the prompts with one query ${TWO_THIRDS}.`,
    test: (results) =>
      withStandIn(
        results,
        decide(
          excelExp(results, "unseen").flatMap((curve) => promptRivals(results, curve, 1)),
          NO_TUNING,
        ),
      ),
  },
  {
    id: 20,
    place: "5.1.1",
    shownBy: UNSEEN,
    headline: onUnseen("Knowing it in advance (ideal) is not always better", [EXCEL, IDEAL]),
    statement:
      "Knowing the unseen benchmark in advance (ideal) is not always better than not (exp).",
    criterion: `One exception is enough to deny an always: exp has less regret than ideal in at least one cell by an interval that allows for having looked at all of them (Holm's correction, 5% in all), or ${TWO_THIRDS}. Refuted if ideal has less ${TWO_THIRDS}; otherwise open.`,
    test: (results) => {
      const exp = results.curves({ experiment: "unseen", group: "exp", variant: "" });
      const cells = exp.flatMap((curve) => {
        const ideal = results.counterpart(curve, { group: "ideal" });
        return ideal ? beats(results, curve, ideal) : [];
      });
      const finding = decide(cells, NO_TUNING);
      if (finding.verdict === "cannot be tested here") return finding;
      const exceptions = beyondChance(cells);
      const evidence = `exp better: ${finding.evidence}; beyond chance after Holm's correction in ${exceptions}`;
      return exceptions > 0
        ? { verdict: "holds", evidence, cells: finding.cells }
        : { ...finding, evidence };
    },
  },
  {
    id: 21,
    place: "5.1.1",
    shownBy: UNSEEN,
    headline: onUnseen("The method adapts to the unseen benchmark", [EXCEL, IDEAL], SHIFT),
    statement: "The method adapts to the unseen benchmark.",
    criterion: `After ARC has come in, (a) the regret per round of the Excel exp curves falls: the interval of last third less first third of the second section lies below 0. The known benchmarks are learned on as well, so (b) regret in the second section is less than 10% above that of ideal, which knew ARC: the interval of R(exp) - 1.1 R(ideal) lies below 0. Each of the two ${TWO_THIRDS}.`,
    test: (results) => {
      const own = excelExp(results, "unseen");
      const near = own.flatMap((curve): Cell[] => {
        const ideal = results.counterpart(curve, { group: "ideal" });
        if (!ideal) return [];
        const section = (c: Curve) => regretAfter(results, c, SHIFT);
        const differences = minus(section(curve), section(ideal), 1.1);
        return [cellOf(curve, differences, { against: ideal.name })];
      });
      return decideEach(
        [
          {
            name: "(a)",
            cells: own.map((curve) => fallsAfter(results, curve, SHIFT)),
            unit: "slope",
          },
          { name: "(b)", cells: near, unit: "R(exp) to 1.1 R(ideal)" },
        ],
        NO_TUNING,
      );
    },
  },
];

/** Number of cells in which the claim is right at a level of 5% over all cells. */
function beyondChance(cells: readonly Cell[]): number {
  const tested = cells.map(({ differences }) =>
    pairedDifference(
      differences,
      differences.map(() => 0),
    ),
  );
  const p = holm(tested.map((one) => one.p));
  return tested.filter(({ mean }, i) => mean < 0 && p[i]! < 0.05).length;
}
