/** Section 5.1: RouterBench. */
import { verdictText } from "../../reproduce/claims-report.ts";
import type { Curve } from "../../reproduce/curve.ts";
import { WEIGHTINGS } from "../../reproduce/setting.ts";
import {
  type Cell,
  decide,
  decideEach,
  minus,
  shownIn,
  untestable,
} from "../../reproduce/verdict.ts";
import { mean } from "../../statistics.ts";
import {
  beats,
  type ClaimDraft,
  cellOf,
  cheaper,
  excelExp,
  expCurves,
  flattens,
  lengths,
  NO_TUNING,
  promptRivals,
  sharedRounds,
  standingIn,
  TWO_THIRDS,
  tunedPairs,
  withNote,
  withStandIn,
} from "./cells.ts";
import { CTRL, EXCEL, onRouterbench, promptOf } from "./headlines.ts";

/** The figures of runs on RouterBench. */
const RUNS = /^routerbench-.*_E\d+-\d+$/;

export const routerbenchClaims: readonly ClaimDraft[] = [
  {
    id: 8,
    place: "5.1, fig. 3a",
    shownBy: RUNS,
    statement: "The number of queries in a prompt does not matter much.",
    criterion: `Between 1, 3 and 5 example queries regret differs by less than 10%: the interval of |difference| less a tenth of the smaller mean lies below 0 ${TWO_THIRDS}.`,
    test: (results) => {
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
            const differences = gaps.map((gap) => sign * gap - level);
            return [cellOf(curve, differences, { t, against: String(examples) })];
          }),
      );
      return withStandIn(results, decide(cells, { unit: "|difference| less 10%" }));
    },
  },
  {
    id: 9,
    place: "5.1, fig. 3b",
    shownBy: RUNS,
    headline: onRouterbench("Fine-tuned encoders (exp) beat the original ones (ctrl)", [
      EXCEL,
      CTRL,
    ]),
    statement: "On RouterBench fine-tuned encoders (exp) beat the original ones (ctrl).",
    criterion: `Regret of exp is below that of ctrl, weighting by weighting, without metadata and with it, ${TWO_THIRDS}.`,
    test: (results) => decide(tunedPairs(results, "routerbench"), NO_TUNING),
  },
  {
    id: 10,
    place: "5.1, fig. 3b",
    shownBy: RUNS,
    headline: onRouterbench("The Excel exp curves beat OpenAItext_5", [
      EXCEL,
      { ...EXCEL, weighting: "excel_mask" },
      promptOf(5),
    ]),
    statement: "Excel_perf_cost_exp and Excel_mask_exp beat OpenAItext_5.",
    criterion: `Regret of either, without metadata and with it, is below that of the prompts with five queries ${TWO_THIRDS}.`,
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
    shownBy: RUNS,
    statement: "Both observations (9 and 10) hold for all tuned encoders.",
    criterion:
      "Claims 9 and 10 hold for every encoder that is here and number of epochs by itself.",
    test: (results) => {
      const groups = results.encoders.flatMap(({ name, epochs }) =>
        epochs.map((epochs) => ({ encoder: name, epochs })),
      );
      if (groups.length === 0) return untestable(NO_TUNING.without);
      const judged = groups.flatMap(({ encoder, epochs }) => {
        const of = (curve: Curve) => curve.encoder === encoder && curve.epochs === epochs;
        const excel = excelExp(results, "routerbench").filter(of);
        const name = `${encoder}_E${epochs}`;
        return [
          { name: `${name}: 9`, ...decide(tunedPairs(results, "routerbench", of)) },
          { name: "10", ...decide(excel.flatMap((curve) => promptRivals(results, curve, 5))) },
        ];
      });
      const open = judged.find(({ verdict }) => verdict === "cannot be tested here");
      if (open) return untestable(open.evidence);
      const holds = judged.every(({ verdict }) => verdict === "holds");
      return withStandIn(results, {
        verdict: holds ? "holds" : "does not hold",
        ...(!holds && { refuted: judged.some(({ refuted }) => refuted) }),
        evidence: judged
          .map((one) => `${one.name} ${verdictText(one)}, ${shownIn(one.cells)}`)
          .join("; "),
        cells: judged.flatMap(({ cells }) => cells),
      });
    },
  },
  {
    id: 12,
    place: "5.1",
    shownBy: RUNS,
    headline: onRouterbench("Excel_perf_cost beats Perf_cost", [
      EXCEL,
      { ...EXCEL, weighting: "perf_cost" },
    ]),
    statement:
      "Excel_perf_cost beats Perf_cost: weight only the categories in which a model excels.",
    criterion: `Regret of Excel_perf_cost is below that of Perf_cost, exp against exp, without metadata and with it, ${TWO_THIRDS}.`,
    test: (results) => {
      const excel = expCurves(results, "routerbench").filter(
        ({ weighting }) => weighting === "excel_perf_cost",
      );
      const cells = excel.flatMap((curve) => beats(results, curve, { weighting: "perf_cost" }));
      return decide(cells, NO_TUNING);
    },
  },
  {
    id: 13,
    place: "B.2",
    shownBy: RUNS,
    statement: "Excel_perf_cost and Excel_mask are the most effective weightings in most cases.",
    criterion: `Of the four exp curves of an encoder, its epochs, a form and a vote scale, the better of the two Excel ones has less regret than the better of the other two, better being the lower mean, ${TWO_THIRDS}.`,
    test: (results) => {
      const perf = results.curves({
        experiment: "routerbench",
        group: "exp",
        weighting: "perf",
        variant: "",
      });
      const cells = perf.flatMap((curve) =>
        lengths(results, curve).flatMap((t): Cell[] => {
          const all = WEIGHTINGS.flatMap((weighting) => {
            const own = results.counterpart(curve, { weighting });
            const regrets = own && results.regrets(own, t);
            return regrets ? [{ curve: own, regrets }] : [];
          });
          if (all.length < WEIGHTINGS.length) return [];
          // Both sides pick of two, so that picking favours neither.
          const better = (excel: boolean) =>
            all
              .filter(({ curve }) => curve.weighting.startsWith("excel") === excel)
              .reduce((a, b) => (mean(b.regrets) < mean(a.regrets) ? b : a));
          const [own, rival] = [better(true), better(false)];
          const differences = minus(own.regrets, rival.regrets);
          return [cellOf(own.curve, differences, { t, against: rival.curve.name })];
        }),
      );
      return decide(cells, NO_TUNING);
    },
  },
  {
    id: 14,
    place: "5.1",
    shownBy: /^routerbench-.*-all$/,
    statement: "e5b_E4 performs best of all encoders.",
    criterion: `Regret of e5b_E4 under the excel weightings is below that of every other tuned encoder and of e5b_E2 ${TWO_THIRDS}.`,
    test: (results) => {
      const own = excelExp(results, "routerbench").filter(
        (c) => c.encoder === "e5b" && c.epochs === 4,
      );
      const cells = own.flatMap((curve) =>
        results.encoders.flatMap(({ name, epochs }) =>
          epochs
            .filter((epochs) => name !== "e5b" || epochs !== 4)
            .flatMap((epochs) => beats(results, curve, { encoder: name, epochs })),
        ),
      );
      return decide(cells, { without: "the weights of e5b are not here: joust models get e5b" });
    },
  },
  {
    id: 15,
    place: "5.1",
    shownBy: /^routerbench-lambda$/,
    statement: "lambda trades performance against cost.",
    criterion: `With Excel_perf_cost, lambda = 0.2 in the weighting makes a query cheaper than lambda = 0: the interval of the difference of costs, a duel of two models costing both answers, lies below 0 ${TWO_THIRDS} (vote scales). What it costs in Perf stands beside it.`,
    test: (results) => {
      const dear = results.curves({ experiment: "routerbench", variant: "lambda=0" });
      const pairs = dear.flatMap((curve) => {
        const thrifty = results.counterpart(curve, { variant: "lambda=0.2" });
        return thrifty ? [{ curve, thrifty }] : [];
      });
      const finding = decide(
        pairs.flatMap(({ curve, thrifty }) => cheaper(results, thrifty, curve)),
        { unit: "cost per query" },
      );
      if (finding.cells.length === 0) return finding;
      const score = (curve: Curve) => mean(results.runs(curve).map((run) => run.score));
      const lost = mean(pairs.map(({ curve, thrifty }) => score(curve) - score(thrifty)));
      const direction = lost < 0 ? "more" : "less";
      return withNote(finding, `at ${Math.abs(lost).toFixed(3)} ${direction} Perf per query`);
    },
  },
  {
    id: 16,
    place: "B.3",
    shownBy: /^routerbench-variations$/,
    statement: "35 offline queries suffice.",
    needs: ["routerbench", "unseen"],
    criterion: `Regret with 5 offline queries per benchmark is less than 10% above that with 15, (a) on RouterBench, where transformers are not tuned for it, and (b) for the tuned ideal curves of the unseen benchmark: the interval of R(5) - 1.1 R(15) lies below 0, each of the two ${TWO_THIRDS}.`,
    test: (results) => {
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
    shownBy: /^routerbench-.*-choices$/,
    statement: "Curves converge to the best model for each query, not to one fixed model.",
    criterion: `In the last third of the longest runs (T = 3,000; fewer in a quick run) the regret per round of the Excel exp curves is (a) below 0.8 of their own in the first third and (b) below that of the best fixed model: each of the two ${TWO_THIRDS}.`,
    test: (results) => {
      const { long } = results.planner.size;
      const longest = excelExp(results, "routerbench").filter(
        (curve) => results.rounds(curve) === long,
      );
      const pairs = longest.flatMap((curve) => {
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
      const below = pairs.map(({ curve, rival }) =>
        cellOf(curve, minus(last(curve), last(rival)), { against: rival.name }),
      );
      const parts = [
        { name: "(a)", cells: pairs.map(({ curve }) => flattens(results, curve)) },
        { name: "(b)", cells: below },
      ];
      return decideEach(parts, { unit: "slope", ...NO_TUNING });
    },
  },
];
