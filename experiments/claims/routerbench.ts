/** Section 5.1: RouterBench. */
import type { Claim, Curve, Finding } from "../../src/reproduce/experiment.ts";
import { type CellOfClaim, decide, minus, untestable } from "../../src/reproduce/verdict.ts";
import { mean } from "../../src/simulate/statistics.ts";
import { EXCEL } from "../routerbench-scene.ts";
import {
  beats,
  cheaper,
  eachEncoder,
  excelExp,
  labelOf,
  lengths,
  NO_TUNING,
  promptRivals,
  standingIn,
  TWO_THIRDS,
  tunedPairs,
  withStandIn,
} from "./cells.ts";

export const routerbenchClaims: readonly Claim[] = [
  {
    id: 8,
    place: "5.1, fig. 3a",
    statement: "The number of queries in a prompt does not matter much.",
    needs: ["routerbench"],
    criterion: `Between 1, 3 and 5 example queries regret differs by less than 10%: the interval of |difference| - 0.1 mean lies below 0 ${TWO_THIRDS}.`,
    test: (results) => {
      const prompts = results.curves({ experiment: "routerbench", variant: "", group: "prompt" });
      const cells = standingIn(results, prompts).flatMap((curve) =>
        [1, 3]
          .filter((examples) => examples < curve.examples)
          .flatMap((examples): CellOfClaim[] => {
            const other = results.counterpart(curve, { examples });
            if (!other) return [];
            const [a, b] = [results.regrets(curve)!, results.regrets(other)!];
            const level = 0.1 * Math.min(mean(a), mean(b));
            const gap = mean(minus(a, b));
            const sign = gap < 0 ? -1 : 1;
            return [
              {
                label: `${labelOf(curve)} against ${examples}`,
                differences: minus(a, b).map((d) => sign * d - level),
              },
            ];
          }),
      );
      return withStandIn(results, decide(cells, { unit: "|difference| less 10%" }));
    },
  },
  {
    id: 9,
    place: "5.1, fig. 3b",
    statement: "On RouterBench fine-tuned encoders (exp) beat the original ones (ctrl).",
    needs: ["routerbench"],
    criterion: `Regret of exp is below that of ctrl, weighting by weighting, ${TWO_THIRDS}.`,
    test: (results) => decide(tunedPairs(results, "routerbench"), NO_TUNING),
  },
  {
    id: 10,
    place: "5.1, fig. 3b",
    statement: "Excel_perf_cost_exp and Excel_mask_exp beat OpenAItext_5.",
    needs: ["routerbench"],
    criterion: `Regret of either is below that of the prompts with five queries ${TWO_THIRDS}.`,
    test: (results) =>
      withStandIn(
        results,
        decide(
          excelExp(results, "routerbench").flatMap((curve) => promptRivals(results, curve, 5)),
          NO_TUNING,
        ),
      ),
  },
  {
    id: 11,
    place: "5.1, fig. 6",
    statement: "Both observations (9 and 10) hold for all tuned encoders.",
    needs: ["routerbench"],
    criterion: "Claims 9 and 10 hold for every encoder and number of epochs by itself.",
    test: (results) => {
      const groups = eachEncoder(results).flatMap(({ name, epochs }) =>
        epochs.map((epochs) => ({ encoder: name, epochs })),
      );
      if (groups.length === 0) return untestable(NO_TUNING.without);
      const judged = groups.map(({ encoder, epochs }) => {
        const of = (curve: Curve) => curve.encoder === encoder && curve.epochs === epochs;
        const nine = decide(tunedPairs(results, "routerbench", of));
        const excel = excelExp(results, "routerbench").filter(of);
        const ten = decide(excel.flatMap((curve) => promptRivals(results, curve, 5)));
        return { name: `${encoder}_E${epochs}`, nine, ten };
      });
      const untested = judged.some(({ nine }) => nine.verdict === "cannot be tested here");
      if (untested) return untestable("one run has no interval: give --runs 5");
      const both = judged.filter(
        ({ nine, ten }) => nine.verdict === "holds" && ten.verdict === "holds",
      );
      const say = (finding: Finding) => (finding.verdict === "holds" ? "holds" : "does not");
      const evidence = judged.map(
        ({ name, nine, ten }) => `${name}: 9 ${say(nine)}, 10 ${say(ten)}`,
      );
      const cells = judged.flatMap(({ nine, ten }) => [...nine.cells, ...ten.cells]);
      const verdict = both.length === judged.length ? "holds" : "does not hold";
      return withStandIn(results, { verdict, evidence: evidence.join("; "), cells });
    },
  },
  {
    id: 12,
    place: "5.1",
    statement:
      "Excel_perf_cost beats Perf_cost: weight only the categories in which a model excels.",
    needs: ["routerbench"],
    criterion: `Regret of Excel_perf_cost is below that of Perf_cost, exp against exp, ${TWO_THIRDS}.`,
    test: (results) => {
      const excel = results.curves({
        experiment: "routerbench",
        group: "exp",
        weighting: "excel_perf_cost",
      });
      const cells = excel.flatMap((curve) => beats(results, curve, { weighting: "perf_cost" }));
      return decide(cells, NO_TUNING);
    },
  },
  {
    id: 13,
    place: "B.2",
    statement: "Excel_perf_cost and Excel_mask are the most effective weightings in most cases.",
    needs: ["routerbench"],
    criterion:
      "Among the four exp curves of an encoder, form, vote scale and T the lowest mean regret is one of theirs in at least two thirds of the cases.",
    test: (results) => {
      const perf = results.curves({ experiment: "routerbench", group: "exp", weighting: "perf" });
      const cases = perf.flatMap((curve) =>
        lengths(results, curve).flatMap((t) => {
          const regret = (weighting: string) => {
            const own = results.counterpart(curve, { weighting });
            return own ? mean(results.regrets(own, t)!) : Infinity;
          };
          const best = Math.min(...EXCEL.map(regret));
          const others = Math.min(...["perf", "perf_cost"].map(regret));
          return Number.isFinite(best) ? [best < others] : [];
        }),
      );
      if (cases.length === 0) return untestable(NO_TUNING.without);
      const won = cases.filter(Boolean).length;
      return {
        verdict: won >= (2 / 3) * cases.length ? "holds" : "does not hold",
        evidence: `lowest in ${won} of ${cases.length} cases`,
        cells: [],
      };
    },
  },
  {
    id: 14,
    place: "5.1",
    statement: "e5b_E4 performs best of all encoders.",
    needs: ["routerbench"],
    criterion: `Regret of e5b_E4 under the excel weightings is below that of every other tuned encoder ${TWO_THIRDS}.`,
    test: (results) => {
      const own = excelExp(results, "routerbench").filter(
        (c) => c.encoder === "e5b" && c.epochs === 4,
      );
      const cells = own.flatMap((curve) =>
        eachEncoder(results)
          .filter(({ name }) => name !== "e5b")
          .flatMap(({ name, epochs }) =>
            epochs.flatMap((epochs) => beats(results, curve, { encoder: name, epochs })),
          ),
      );
      return decide(cells, { without: "the weights of e5b are not here: joust models get e5b" });
    },
  },
  {
    id: 15,
    place: "5.1",
    statement: "lambda trades performance against cost.",
    needs: ["routerbench"],
    criterion: `With Excel_perf_cost, lambda = 0.2 in the weighting makes a query cheaper than lambda = 0: the interval of the difference of costs lies below 0 ${TWO_THIRDS} (vote scales).`,
    test: (results) => {
      const dear = results.curves({ experiment: "routerbench", variant: "lambda=0" });
      const cells = dear.flatMap((curve) => {
        const thrifty = results.counterpart(curve, { variant: "lambda=0.2" });
        return thrifty ? [cheaper(results, thrifty, curve)] : [];
      });
      return decide(cells, { unit: "cost a query" });
    },
  },
  {
    id: 16,
    place: "B.3",
    statement: "35 offline queries suffice.",
    needs: ["routerbench"],
    criterion: `Regret with 5 offline queries a benchmark is less than 10% above that with 15: the interval of R(5) - 1.1 R(15) lies below 0 ${TWO_THIRDS}.`,
    test: (results) => {
      const more = results.curves({ experiment: "routerbench", variant: "15 offline" });
      const cells = more.flatMap((curve): CellOfClaim[] => {
        const few = results.counterpart(curve, { variant: "" });
        const t = results.rounds(curve);
        const own = few && results.regrets(few, t);
        if (!own) return [];
        return [
          { label: labelOf(curve), differences: minus(own, results.regrets(curve, t)!, 1.1) },
        ];
      });
      return decide(cells);
    },
  },
  {
    id: 17,
    place: "1, 4.1",
    statement: "Curves converge to the best model for each query, not to one fixed model.",
    needs: ["routerbench"],
    criterion: `In the last third of the longest runs the regret a round of the Excel exp curves is below that of the best fixed model ${TWO_THIRDS}.`,
    test: (results) => {
      const cells = excelExp(results, "routerbench", "").flatMap((curve): CellOfClaim[] => {
        const fixed = results.curves({
          experiment: "routerbench",
          variant: "",
          policy: "best-fixed",
          form: curve.form,
          voteScale: curve.voteScale,
          encoder: curve.encoder,
          epochs: 0,
        });
        const rival = fixed.find((one) => results.rounds(one) === results.rounds(curve));
        if (!rival) return [];
        const last = (c: Curve) => results.slopes(c, 2 / 3, 1);
        return [{ label: labelOf(curve), differences: minus(last(curve), last(rival)) }];
      });
      return decide(cells, { unit: "slope", ...NO_TUNING });
    },
  },
];
