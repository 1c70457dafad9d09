/**
 * The settings of FGTS.CDB that the paper does not give: eta, the spread of the prior, and the
 * Langevin steps of a round. Every combination runs on other seeds than the figures, at four
 * vote scales. All figures use the combination with the least regret over all columns.
 */

import { mean, meanInterval } from "../../core/statistics.ts";
import type { Curve } from "../reproduce/curve.ts";
import type { RouterbenchSource } from "../reproduce/data-sets.ts";
import type { Experiment, ReportItem } from "../reproduce/experiment.ts";
import type { Planner } from "../reproduce/planner.ts";
import type { Results } from "../reproduce/results.ts";
import { type CurveOptions, fgts, type Setting, weighted } from "../reproduce/setting.ts";
import { mmluSetting } from "./mmlu.ts";
import { settingOf as routerbenchSetting } from "./routerbench-setting.ts";

const NAME = "settings";
const RUNS = 4;
const SCALES = [1, 3, 10, 100];
const ETAS = [1, 3, 10, 30];
/** The settings of every eta: three spreads of the prior, then more and longer steps. */
const REST = [
  { sd: 1, steps: 5, step: 0.2 },
  { sd: 5, steps: 5, step: 0.2 },
  { sd: 25, steps: 5, step: 0.2 },
  { sd: 5, steps: 5, step: 1 },
  { sd: 5, steps: 25, step: 1 },
];

interface Combination {
  readonly eta: number;
  readonly sd: number;
  readonly steps: number;
  readonly step: number;
}

const COMBINATIONS: readonly Combination[] = ETAS.flatMap((eta) =>
  REST.map((rest) => ({ eta, ...rest })),
);

export const settings: Experiment = {
  name: NAME,
  title: "Open settings of FGTS.CDB",
  async plan(planner) {
    const { routerbench } = planner.data;
    if ("missing" in routerbench) return { notes: [routerbench.missing], items: [] };
    if (planner.size.quick) return { notes: ["Not part of a quick run."], items: [] };
    const problems = problemsOf(planner, routerbench);
    const columns = problems.flatMap(({ title, setting, options, features }) =>
      SCALES.map((voteScale) => ({
        title: `${title}, s = ${voteScale}`,
        curves: COMBINATIONS.map((combination) =>
          setting.curve({
            ...options,
            voteScale,
            policy: fgts({ ...combination, ...features }),
            variant: [textOf(combination), ...Object.entries(features).flat()].join(" "),
            runs: RUNS,
          }),
        ),
      })),
    );
    return {
      notes: [
        `The paper does not give eta, the prior or the number of Langevin steps. Each combination has ${RUNS} runs with seeds that no other figure uses, and all other figures use the combination with the lowest ratio (see the table).`,
      ],
      items: [gridTable(columns)],
    };
  },
};

interface Problem {
  readonly title: string;
  readonly setting: Setting;
  readonly options: Omit<CurveOptions, "voteScale">;
  /** How metadata is appended, if it is. */
  readonly features: { readonly metadata?: "raw" };
}

/** Fine-tuned curves of the main encoder, each on the draws of another seed. */
function problemsOf(planner: Planner, routerbench: RouterbenchSource): Problem[] {
  const { main, size } = planner;
  const mmlu = mmluSetting(planner, { experiment: NAME, seed: planner.seed + 1 });
  const epochs = main.epochs.at(-1) ?? 0;
  const group = epochs > 0 ? "exp" : "ctrl";
  const { name, files } = routerbench.forms[0]!;
  const data = { files, scores: routerbench.scores, exclude: ["gpt-4"] };
  const setting = routerbenchSetting(planner, name, data, 5, {
    experiment: NAME,
    seed: planner.seed + 1,
  });
  const problems = (["perf", "excel_perf_cost"] as const).flatMap((weighting): Problem[] => {
    const state = { encoder: main, epochs, rounds: size.long };
    const options = { state, group, models: weighted(weighting), rounds: size.short } as const;
    const title = `RouterBench ${weighting}`;
    return [
      { title, setting, options, features: {} },
      { title: `${title} with metadata`, setting, options, features: { metadata: "raw" } },
    ];
  });
  if (!mmlu) return problems;
  const state = { encoder: main, epochs, rounds: mmlu.rounds };
  const options = { state, group, models: "means" } as const;
  return [...problems, { title: "MMLU", setting: mmlu.setting, options, features: {} }];
}

function textOf({ eta, sd, steps, step }: Combination): string {
  return `eta=${eta} sd=${sd} steps=${steps} step=${step}`;
}

function gridTable(
  columns: readonly { readonly title: string; readonly curves: readonly Curve[] }[],
): ReportItem {
  const title = "Regret of FGTS.CDB by setting";
  return {
    id: `${NAME}-grid`,
    title,
    caption: `Mean regret over ${RUNS} runs with its 95% interval. Ratio: the regret of each column divided by the lowest regret of that column, averaged over the columns; the row with the lowest ratio is the setting of all other figures.`,
    draw: (results) => {
      const regrets = columns.map(({ curves }) => curves.map((curve) => regretsOf(results, curve)));
      const least = regrets.map((column) => Math.min(...column.map(mean)));
      const ratios = COMBINATIONS.map((_, row) =>
        mean(regrets.map((column, c) => mean(column[row]!) / least[c]!)),
      );
      const rows = COMBINATIONS.map(({ eta, sd, steps, step }, row) => [
        eta,
        sd,
        steps,
        step,
        ratios[row]!,
        ...regrets.map((column) => meanInterval(column[row]!)),
      ]);
      const number = (key: string) => ({ key, title: key, kind: "number" as const });
      const heads = [
        ...["eta", "sd", "steps", "step", "ratio"].map(number),
        ...columns.map(({ title }) => ({ key: title, title, kind: "interval" as const })),
      ];
      const best = ratios.indexOf(Math.min(...ratios));
      return { kind: "table", table: { title, columns: heads, rows, best } };
    },
  };
}

function regretsOf(results: Results, curve: Curve): readonly number[] {
  return results.regrets(curve) ?? [];
}
