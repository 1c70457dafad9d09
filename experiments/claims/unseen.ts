/** Section 5.1.1: a benchmark that nobody has heard of. */
import type { Claim } from "../../src/reproduce/experiment.ts";
import { decide, minus } from "../../src/reproduce/verdict.ts";
import {
  beats,
  excelExp,
  labelOf,
  NO_TUNING,
  promptRivals,
  TWO_THIRDS,
  tunedPairs,
  withStandIn,
} from "./cells.ts";

export const unseenClaims: readonly Claim[] = [
  {
    id: 18,
    place: "5.1.1, fig. 3d",
    statement: "With an unseen benchmark fine-tuned encoders (exp) beat the original ones (ctrl).",
    needs: ["unseen"],
    criterion: `Regret of exp is below that of ctrl ${TWO_THIRDS}.`,
    test: (results) => decide(tunedPairs(results, "unseen"), NO_TUNING),
  },
  {
    id: 19,
    place: "5.1.1, fig. 3d",
    statement: "With an unseen benchmark the Excel exp curves beat OpenAItext_1.",
    needs: ["unseen"],
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
    statement:
      "Knowing the unseen benchmark in advance (ideal) is not always better than not (exp).",
    needs: ["unseen"],
    criterion:
      "Holds unless ideal is better beyond chance (interval below 0) in at least two thirds of the cells.",
    test: (results) => {
      const ideal = results.curves({ experiment: "unseen", group: "ideal" });
      const finding = decide(
        ideal.flatMap((curve) => beats(results, curve, { group: "exp" })),
        NO_TUNING,
      );
      const { verdict, cells } = finding;
      if (verdict === "cannot be tested here") return finding;
      const evidence = `ideal better ${finding.evidence}`;
      return verdict === "holds"
        ? { verdict: "does not hold", refuted: true, evidence, cells }
        : { verdict: "holds", evidence, cells };
    },
  },
  {
    id: 21,
    place: "5.1.1",
    statement: "The method adapts to the unseen benchmark.",
    needs: ["unseen"],
    criterion: `After ARC has come in, the regret a round of the Excel exp curves falls: the interval of last third less first third of the second section lies below 0 ${TWO_THIRDS}.`,
    test: (results) => {
      const cells = excelExp(results, "unseen").map((curve) => {
        const third = (i: number) => SHIFT + ((1 - SHIFT) * i) / 3;
        const [early, late] = [
          results.slopes(curve, SHIFT, third(1)),
          results.slopes(curve, third(2), 1),
        ];
        return { label: labelOf(curve), differences: minus(late, early) };
      });
      return decide(cells, { unit: "slope", ...NO_TUNING });
    },
  },
];

/** Where ARC comes in: 300 of 720 rounds, and in the same proportion with fewer. */
const SHIFT = 300 / 720;
