/** Section 5.2: MixInstruct. */
import type { Curve } from "../../reproduce/curve.ts";
import { type Cell, minus } from "../../reproduce/verdict.ts";
import { cellOf, promptRivals, sharedRounds, slopes, TWO_THIRDS } from "./cells.ts";
import type { ClaimDraft } from "./claim.ts";

export const mixinstructClaims: readonly ClaimDraft[] = [
  {
    id: 22,
    place: "5.2, table 2",
    statement: "On MixInstruct any fixed model is the best in at most 22% of the queries.",
    criterion: "The largest share of the queries on which one model is best is at most 0.22.",
    without: "MixInstruct is not here, and other queries have another share",
    parts: ({ planner: { data, facts } }) => {
      const share = "standIn" in data.mixinstruct ? undefined : facts.get("mixinstruct top share");
      const cells = share === undefined ? [] : [{ label: "largest share", runs: [share - 0.22] }];
      return [{ unit: "largest share minus 0.22", rule: "number", cells }];
    },
    note: ({ planner: { facts } }) => {
      const percent = (key: string) => {
        const share = facts.get(key);
        return share === undefined ? undefined : `${(100 * share).toFixed(1)}%`;
      };
      const without = percent("mixinstruct top share without gpt-4");
      const rest = without === undefined ? "" : `, ${without} without GPT-4`;
      return `one model is best in ${percent("mixinstruct top share")}${rest}`;
    },
  },
  {
    id: 23,
    place: "5.2, fig. 3a",
    about: ["OpenAItext", "MixInstruct"],
    statement: "Model embeddings by eq. 6 beat those from OpenAItext's prompts on MixInstruct.",
    criterion: `Regret of the fine-tuned eq. 6 curve is below that of the prompts with 1, 3 and 5 queries ${TWO_THIRDS}.`,
    parts: (results) => {
      const own = results.curves({ experiment: "mixinstruct", group: "exp" });
      return [{ cells: [1, 3, 5].flatMap((count) => promptRivals(results, own, count)) }];
    },
  },
  {
    id: 24,
    place: "5.2, fig. 3b",
    shownBy: /^mixinstruct-.*-drops$/,
    about: ["MixInstruct"],
    statement: "Removing the most ambiguous 15% of the queries is worse than removing 8%.",
    criterion: `For the fine-tuned curves and the prompts with five queries, over the rounds that both streams have, regret is higher with 15% of the queries dropped than with 8% dropped: (a) the regret itself, and (b) its share of the regret of random on the same queries, because the remaining queries have more regret to lose. The interval of R(8%) - R(15%) lies below 0, each of the two ${TWO_THIRDS}.`,
    parts: (results) => {
      const few = results
        .curves({ experiment: "mixinstruct" })
        .filter(
          ({ form, group, examples }) =>
            form.endsWith("8% dropped") && (group === "exp" || examples === 5),
        );
      const cellsOf = (rateOf: (curve: Curve, t: number) => number[], of = "") =>
        few.flatMap((curve): Cell[] => {
          const more = results.counterpart(curve, { form: curve.form.replace("8%", "15%") });
          if (!more) return [];
          const t = sharedRounds(results, curve, more);
          const runs = minus(rateOf(curve, t), rateOf(more, t));
          return [cellOf(curve, runs, { t, against: more.name, of })];
        });
      const rate = (curve: Curve, t: number) => slopes(results, curve, 0, t);
      const share = (curve: Curve, t: number) => {
        const { experiment, form, encoder } = curve;
        const [random] = results.curves({ experiment, form, encoder, policy: "random" });
        const chance = rate(random!, t);
        return rate(curve, t).map((value, i) => value / chance[i]!);
      };
      return [
        { name: "(a)", cells: cellsOf(rate), unit: "regret per round" },
        {
          name: "(b)",
          cells: cellsOf(share, ", share of random's regret"),
          unit: "share of random's regret",
        },
      ];
    },
  },
];
