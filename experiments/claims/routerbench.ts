/** Section 5.1: RouterBench. */
import type { Claim, Curve, Finding } from "../../src/reproduce/experiment.ts";
import {
  type CellOfClaim,
  decide,
  decideEach,
  minus,
  untestable,
} from "../../src/reproduce/verdict.ts";
import { mean } from "../../src/simulate/statistics.ts";
import { WEIGHTINGS } from "../routerbench-scene.ts";
import {
  beats,
  cheaper,
  excelExp,
  flattens,
  labelOf,
  lengths,
  NO_TUNING,
  promptRivals,
  standingIn,
  TWO_THIRDS,
  tunedPairs,
  withNote,
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
            // Where one is followed longer than the other: at the rounds both have.
            const t = Math.min(results.rounds(curve), results.rounds(other));
            const [a, b] = [results.regrets(curve, t), results.regrets(other, t)];
            if (!a || !b) return [];
            const level = 0.1 * Math.min(mean(a), mean(b));
            const gap = mean(minus(a, b));
            const sign = gap < 0 ? -1 : 1;
            return [
              {
                label: `${labelOf(curve, t)} against ${examples}`,
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
      const groups = results.encoders.flatMap(({ name, epochs }) =>
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
      "Among the four exp curves of an encoder, its epochs, a form and a vote scale the lowest mean regret, where all four can be read, is one of theirs in at least two thirds of the cases.",
    test: (results) => {
      const perf = results.curves({
        experiment: "routerbench",
        group: "exp",
        weighting: "perf",
        variant: "",
      });
      const cases = perf.flatMap((curve) =>
        lengths(results, curve).flatMap((t) => {
          const regrets = WEIGHTINGS.flatMap((weighting) => {
            const own = results.counterpart(curve, { weighting });
            const values = own && results.regrets(own, t);
            return values ? [{ weighting, regret: mean(values) }] : [];
          });
          if (regrets.length < WEIGHTINGS.length) return [];
          const [best] = regrets.sort((a, b) => a.regret - b.regret);
          return [best!.weighting.startsWith("excel")];
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
        results.encoders
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
      const pairs = dear.flatMap((curve) => {
        const thrifty = results.counterpart(curve, { variant: "lambda=0.2" });
        return thrifty ? [{ curve, thrifty }] : [];
      });
      const finding = decide(
        pairs.map(({ curve, thrifty }) => cheaper(results, thrifty, curve)),
        { unit: "cost a query" },
      );
      if (finding.cells.length === 0) return finding;
      const score = (curve: Curve) => mean(results.runs(curve).map((run) => run.score));
      const lost = mean(pairs.map(({ curve, thrifty }) => score(curve) - score(thrifty)));
      return withNote(finding, `at ${lost.toFixed(3)} less Perf a query`);
    },
  },
  {
    id: 16,
    place: "B.3",
    statement: "35 offline queries suffice.",
    needs: ["routerbench", "unseen"],
    criterion: `Regret with 5 offline queries a benchmark is less than 10% above that with 15, (a) on RouterBench, where transformers are not tuned for it, and (b) for the tuned ideal curves of the unseen benchmark: the interval of R(5) - 1.1 R(15) lies below 0, each of the two ${TWO_THIRDS}.`,
    test: (results) => {
      const cell = (few: Curve | undefined, more: Curve): CellOfClaim[] => {
        const t = results.rounds(more);
        const [own, other] = [few && results.regrets(few, t), results.regrets(more, t)];
        return own && other
          ? [{ label: `${labelOf(more, t)} against 5`, differences: minus(own, other, 1.1) }]
          : [];
      };
      const known = results
        .curves({ experiment: "routerbench", variant: "15 offline" })
        .flatMap((more) => cell(results.counterpart(more, { variant: "" }), more));
      const tuned = results
        .curves({ experiment: "unseen", variant: "", group: "ideal" })
        .flatMap((more) => cell(results.counterpart(more, { variant: "5 offline" }), more));
      return decideEach(
        [
          { name: "(a)", cells: known },
          { name: "(b)", cells: tuned },
        ],
        NO_TUNING,
      );
    },
  },
  {
    id: 17,
    place: "1, 4.1",
    statement: "Curves converge to the best model for each query, not to one fixed model.",
    needs: ["routerbench"],
    criterion: `In the last third of the longest runs the regret a round of the Excel exp curves is (a) below 0.8 of their own in the first third and (b) below that of the best fixed model: each of the two ${TWO_THIRDS}.`,
    test: (results) => {
      const pairs = excelExp(results, "routerbench", "").flatMap((curve) => {
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
        return rival ? [{ curve, rival }] : [];
      });
      const last = (curve: Curve) => results.slopes(curve, 2 / 3, 1);
      const below = pairs.map(({ curve, rival }) => ({
        label: `${labelOf(curve)} against ${rival.name}`,
        differences: minus(last(curve), last(rival)),
      }));
      const parts = [
        { name: "(a)", cells: pairs.map(({ curve }) => flattens(results, curve)) },
        { name: "(b)", cells: below },
      ];
      return decideEach(parts, { unit: "slope", ...NO_TUNING });
    },
  },
];
