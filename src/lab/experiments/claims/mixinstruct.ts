/** Section 5.2: MixInstruct. */
import type { Curve } from "../../reproduce/curve.ts";
import { type Cell, decide, decideEach, minus, untestable } from "../../reproduce/verdict.ts";
import {
  type ClaimDraft,
  cellOf,
  NO_TUNING,
  onMixInstruct,
  promptRivals,
  sharedRounds,
  slopes,
  TWO_THIRDS,
  withStandIn,
} from "./cells.ts";
import { onMixinstruct } from "./headlines.ts";

export const mixinstructClaims: readonly ClaimDraft[] = [
  {
    id: 22,
    place: "5.2, table 2",
    statement: "On MixInstruct any fixed model is the best in at most 22% of the queries.",
    criterion: "The largest share of the queries on which one model is best is at most 0.22.",
    test: ({ planner: { facts, data } }) => {
      const share = facts.get("mixinstruct top share");
      if (share === undefined) return untestable("no comparisons of a judge are here");
      const percent = `${(100 * share).toFixed(1)}%`;
      if ("standIn" in data.mixinstruct) {
        const without = facts.get("mixinstruct top share without gpt-4");
        const rest = without === undefined ? "" : `, ${(100 * without).toFixed(1)}% without GPT-4`;
        return untestable(
          `MixInstruct itself is not here; on the stand-in one model tops ${percent}${rest}`,
        );
      }
      return {
        verdict: share <= 0.22 ? "holds" : "does not hold",
        evidence: `one model tops ${percent}`,
        cells: [],
      };
    },
  },
  {
    id: 23,
    place: "5.2, fig. 4a",
    headline: onMixinstruct("Eq. 6 beats OpenAItext's prompts on MixInstruct"),
    statement: "Model embeddings by eq. 6 beat those from OpenAItext's prompts on MixInstruct.",
    criterion: `Regret of the fine-tuned eq. 6 curve is below that of the prompts with 1, 3 and 5 queries ${TWO_THIRDS}.`,
    test: (results) => {
      const own = results.curves({ experiment: "mixinstruct", group: "exp" });
      const cells = own.flatMap((curve) =>
        [1, 3, 5].flatMap((n) => promptRivals(results, curve, n)),
      );
      return onMixInstruct(results, withStandIn(results, decide(cells, NO_TUNING)));
    },
  },
  {
    id: 24,
    place: "5.2, fig. 4b",
    shownBy: /^mixinstruct-.*-drops$/,
    statement: "Removing the most ambiguous 15% of the queries is worse than removing 8%.",
    criterion: `For the fine-tuned curves and the prompts with five queries, over the rounds that both have, regret is higher with 15% dropped than with 8%, (a) as it is and (b) as a share of random's on the same queries, since those that stay have more to lose: the interval of R(8%) - R(15%) lies below 0, each of the two ${TWO_THIRDS}.`,
    test: (results) => {
      const few = results
        .curves({ experiment: "mixinstruct" })
        .filter(
          ({ form, group, examples }) =>
            form.endsWith("8% dropped") && (group === "exp" || examples === 5),
        );
      const pairs = few.flatMap((curve) => {
        const more = results.counterpart(curve, { form: curve.form.replace("8%", "15%") });
        return more ? [{ curve, more }] : [];
      });
      const cellsOf = (rateOf: (curve: Curve, t: number) => number[], of = "") =>
        pairs.map(({ curve, more }): Cell => {
          const t = sharedRounds(results, curve, more);
          const differences = minus(rateOf(curve, t), rateOf(more, t));
          return cellOf(curve, differences, { t, against: more.name, of });
        });
      const rate = (curve: Curve, t: number) => slopes(results, curve, 0, t);
      const share = (curve: Curve, t: number) => {
        const { experiment, form, encoder } = curve;
        const [random] = results.curves({ experiment, form, encoder, policy: "random" });
        const chance = rate(random!, t);
        return rate(curve, t).map((value, i) => value / chance[i]!);
      };
      const parts = [
        { name: "(a)", cells: cellsOf(rate), unit: "regret per round" },
        { name: "(b)", cells: cellsOf(share, ", of random's"), unit: "its share of random's" },
      ];
      return onMixInstruct(results, decideEach(parts));
    },
  },
];
