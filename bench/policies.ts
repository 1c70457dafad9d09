import { readFile, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Options } from "../src/core/bandit/policy.ts";
import { invalidValue } from "../src/core/errors/joust-error.ts";
import type { PolicySpec } from "../src/lab/policies/policy-spec.ts";
import type { Column, Table } from "../src/lab/report/table.ts";
import type { Run } from "../src/lab/simulate/run.ts";
import { curveRounds } from "../src/lab/simulate/run.ts";
import { type Interval, mean, meanInterval, pairedDifference } from "../src/lab/statistics.ts";
import { runCell } from "./cell-runs.ts";
import { CONTENDERS, specOf } from "./contenders.ts";
import type { BenchResult } from "./main.ts";
import { DOCS, publish } from "./publish.ts";
import { BUDGET, TUNED } from "./tune.ts";
import { type Cell, openWorlds, settingsOf, TOLD_KINDS, type World } from "./worlds.ts";

const RUNS = 20;
const SEED = 1;
const SCALES = [10, 3, 1];
const ROUNDS = 720;
/** Where every policy that is fast enough goes on, to see whether it overtakes the best fixed model. */
const LONG = 3000;
const LONG_CONTENDERS = [
  "random",
  "best-fixed",
  "zero-feedback",
  "joust",
  "max-pair-ucb",
  "maxinp",
];
/** Not learners, so not in the comparison for the lowest regret. */
const BASELINES = ["random", "best-fixed", "zero-feedback"];
/** Whose rules are also tried on the paper's features, where the features are what differs. */
const LINEAR = ["max-pair-ucb", "maxinp", "colstim", "vacdb"];
/** joust's regret over FGTS.CDB's with its best weighting, at most. */
const GOALS = { exact: 0.35, noisy: 0.5, permuted: 0.45 };

type Tuned = Record<string, Record<string, Options>>;
/** Of a cell: the final regrets, policy -> one number a run, and FGTS.CDB's weighting. */
interface Regrets {
  readonly regrets: ReadonlyMap<string, number[]>;
  readonly weighting: string;
}

/**
 * Cumulative regret of every policy on both data sets, each with the options
 * tuned on the other one. Writes docs/policies.md and its tables.
 */
export async function policies(names: readonly string[]): Promise<BenchResult> {
  const text = await readFile(TUNED, "utf8").catch(() => {
    throw invalidValue(`no ${basename(TUNED)}`, "run `npm run bench -- tune` first");
  });
  const tuned = JSON.parse(text) as Tuned;
  const result = { ratios: {} as Record<string, number>, figures: {} as Record<string, number> };
  const worlds = await openWorlds();
  const parts: string[] = [];
  for (const [i, world] of worlds.entries()) {
    if (names.length > 0 && !names.includes(world.name)) continue;
    const options = tuned[worlds[1 - i]!.name]!;
    parts.push(await reportOf(world, options, result));
    if (world.name === "routerbench") parts.push(await onPaperFeatures(world, options));
    if (world.name === "llmrouter") parts.push(await longRun(world, options, result.ratios));
  }
  parts.push(REASONS, `## What was tuned\n`, await publish("tuned", tunedTable(tuned)));
  await writeFile(resolve(DOCS, "policies.md"), `${preface()}\n${parts.join("\n")}`);
  return result;
}

async function reportOf(
  world: World,
  tuned: Record<string, Options>,
  { ratios, figures }: BenchResult,
): Promise<string> {
  const cells = await regretsOf(world, tuned);
  for (const [cell, { regrets }] of cells) {
    const ours = mean(regrets.get("joust")!);
    const theirs = regrets.get(FGTS)!;
    const key = `${world.name} ${titleOf(cell)}`;
    ratios[`${key}: joust / fgts-cdb`] = ours / mean(theirs);
    figures[`${key}: joust`] = ours;
  }
  const tables = [
    await publish(`${world.name}-regret`, regretTable(cells)),
    await publish(`${world.name}-joust`, verdictTable(cells)),
  ];
  return [`## ${world.title}\n`, ...tables].join("\n");
}

async function regretsOf(
  world: World,
  tuned: Record<string, Options>,
): Promise<Map<Cell, Regrets>> {
  const cells = SCALES.flatMap((voteScale) => TOLD_KINDS.map((told) => ({ voteScale, told })));
  const out = new Map<Cell, Regrets>();
  for (const cell of cells) {
    const specs = CONTENDERS.map((contender) => specOf(contender, tuned[contender.name] ?? {}));
    const at = specs.findIndex(({ name }) => name === FGTS);
    const weighting = await bestWeighting(world, cell, specs[at]!);
    specs[at] = withWeighting(specs[at]!, weighting);
    const settings = settingsOf(world, cell, { rounds: ROUNDS, runs: RUNS, seed: SEED });
    const runs = await runCell(`policies/${labelOf(world, cell)}`, world, settings, specs);
    const regrets = new Map(runs.map((row, p) => [specs[p]!.name, row.map(finalRegret)]));
    out.set(cell, { regrets, weighting });
  }
  return out;
}

/**
 * FGTS.CDB takes part with the weighting that is best for it in this very cell,
 * found with other seeds: more than any user could know.
 */
async function bestWeighting(world: World, cell: Cell, fgts: PolicySpec): Promise<string> {
  const pilot = { rounds: ROUNDS, runs: PILOT_RUNS, seed: PILOT_SEED };
  const specs = WEIGHTINGS.map((weighting) => withWeighting(fgts, weighting));
  const settings = settingsOf(world, cell, pilot);
  const runs = await runCell(`pilot/${labelOf(world, cell)}`, world, settings, specs);
  const regrets = runs.map((row) => mean(row.map(finalRegret)));
  return WEIGHTINGS[regrets.indexOf(Math.min(...regrets))]!;
}

const FGTS = "fgts-cdb";
const WEIGHTINGS = ["perf", "perf_cost", "excel_perf_cost", "excel_mask"];
const PILOT_RUNS = 5;
const PILOT_SEED = 20_260_102;

function withWeighting(fgts: PolicySpec, weighting: string): PolicySpec {
  return { ...fgts, options: { ...fgts.options, weighting } };
}

function labelOf({ name }: World, { told, voteScale }: Cell): string {
  return `${name}-${told}-${voteScale}`;
}

/** One row a policy, one column a cell. */
function regretTable(cells: ReadonlyMap<Cell, Regrets>): Table {
  const [first] = cells.values();
  const names = [...first!.regrets.keys()];
  const columns: Column[] = [{ key: "policy", title: "policy", kind: "text" }];
  for (const cell of cells.keys()) {
    columns.push({ key: `${cell.told}_${cell.voteScale}`, title: titleOf(cell), kind: "interval" });
  }
  const rows = names.map((name) => [
    name,
    ...[...cells.values()].map(({ regrets }) => meanInterval(regrets.get(name)!)),
  ]);
  return {
    title: `Cumulative regret at T = ${ROUNDS}, mean and 95% interval of ${RUNS} runs`,
    columns,
    rows,
  };
}

/** joust against FGTS.CDB's best weighting and against the best other learner, cell by cell. */
function verdictTable(cells: ReadonlyMap<Cell, Regrets>): Table {
  const rows = [...cells].map(([cell, { regrets, weighting }]) => {
    const ours = regrets.get("joust")!;
    const theirs = regrets.get(FGTS)!;
    const others = [...regrets.keys()].filter(
      (n) => !n.startsWith("joust") && !BASELINES.includes(n),
    );
    const [rival, rivals] = bestOf(regrets, others);
    const ratio = mean(ours) / mean(theirs);
    const gap = pairedDifference(ours, rivals);
    const lowest = gap.mean <= 0 ? "yes" : gap.lo <= 0 ? "within the interval" : "no";
    const goal = GOALS[cell.told];
    return [
      titleOf(cell),
      weighting,
      ratio,
      goal,
      ratio <= goal ? "met" : "missed",
      rival,
      gap,
      lowest,
    ];
  });
  return {
    title: "joust against FGTS.CDB with its best weighting, and against the best other learner",
    columns: [
      { key: "cell", title: "told scores, vote scale", kind: "text" },
      { key: "weighting", title: "FGTS.CDB's best weighting", kind: "text" },
      { key: "ratio", title: "joust / FGTS.CDB", kind: "number" },
      { key: "goal", title: "goal", kind: "number" },
      { key: "met", title: "", kind: "text" },
      { key: "rival", title: "best other learner", kind: "text" },
      { key: "difference", title: "joust - best other", kind: "interval" },
      { key: "lowest", title: "joust lowest", kind: "text" },
    ],
    rows,
  };
}

/** How much of the difference is the features': the same rules on the paper's. */
async function onPaperFeatures(world: World, tuned: Record<string, Options>): Promise<string> {
  const weighting = tuned[FGTS]?.weighting ?? "excel_perf_cost";
  const specs = LINEAR.flatMap((name) => {
    const contender = CONTENDERS.find((candidate) => candidate.name === name)!;
    const spec = specOf(contender, tuned[name] ?? {});
    const options = { ...spec.options, features: "hadamard", weighting };
    return [spec, { ...spec, name: `${name} (paper)`, options }];
  });
  const rows = new Map(specs.map(({ name }): [string, Interval[]] => [name, []]));
  for (const told of TOLD_KINDS) {
    const settings = settingsOf(
      world,
      { voteScale: 3, told },
      { rounds: ROUNDS, runs: 5, seed: SEED },
    );
    const runs = await runCell(`policies/features-${told}`, world, settings, specs);
    specs.forEach(({ name }, p) => {
      rows.get(name)!.push(meanInterval(runs[p]!.map(finalRegret)));
    });
  }
  return publish("routerbench-features", {
    title: `The same rules on category features and on the paper's (Hadamard, ${weighting}), s = 3, 5 runs`,
    columns: [
      { key: "policy", title: "policy", kind: "text" },
      ...TOLD_KINDS.map((told): Column => ({ key: told, title: told, kind: "interval" })),
    ],
    rows: [...rows].map(([name, cells]) => [name, ...cells]),
  });
}

/** Does joust overtake the best fixed model on llmrouter-9models? */
async function longRun(
  world: World,
  tuned: Record<string, Options>,
  ratios: Record<string, number>,
): Promise<string> {
  const contenders = CONTENDERS.filter(({ name }) => LONG_CONTENDERS.includes(name));
  const specs = contenders.map((contender) => specOf(contender, tuned[contender.name] ?? {}));
  const rows: Table["rows"][number][] = [];
  for (const voteScale of SCALES) {
    const cell: Cell = { voteScale, told: "exact" };
    const settings = settingsOf(world, cell, { rounds: LONG, runs: RUNS, seed: SEED });
    const runs = await runCell(`policies/long-${voteScale}`, world, settings, specs);
    const regrets = runs.map((row) => row.map(finalRegret));
    const at = (name: string) => specs.findIndex((spec) => spec.name === name);
    const ours = regrets[at("joust")]!;
    const fixed = regrets[at("best-fixed")]!;
    ratios[`llmrouter T=${LONG} s=${voteScale}: joust / best fixed`] = mean(ours) / mean(fixed);
    const second = (row: readonly Run[]) => mean(row.map(secondHalf));
    rows.push([
      `s = ${voteScale}`,
      ...regrets.map((row) => meanInterval(row)),
      pairedDifference(ours, fixed),
      second(runs[at("joust")]!) / second(runs[at("best-fixed")]!),
    ]);
  }
  const table: Table = {
    title: `llmrouter-9models at T = ${LONG}: cumulative regret, and the second half alone`,
    columns: [
      { key: "scale", title: "vote scale", kind: "text" },
      ...specs.map(({ name }): Column => ({ key: name, title: name, kind: "interval" })),
      { key: "difference", title: "joust - best fixed", kind: "interval" },
      { key: "second_half", title: "joust / best fixed, 2nd half", kind: "number" },
    ],
    rows,
  };
  return publish("llmrouter-long", table);
}

function tunedTable(tuned: Tuned): Table {
  const show = (options: Options | undefined) =>
    Object.entries(options ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(" ") || "defaults";
  return {
    title: `Best of ${BUDGET} configurations each, the defaults among them`,
    columns: [
      { key: "policy", title: "policy", kind: "text" },
      { key: "options", title: "tuned", kind: "text" },
      { key: "on_llmrouter", title: "on llmrouter, used on RouterBench", kind: "text" },
      { key: "on_routerbench", title: "on RouterBench, used on llmrouter", kind: "text" },
    ],
    rows: CONTENDERS.filter(({ grid }) => Object.keys(grid).length > 0).map(({ name, grid }) => [
      name,
      Object.keys(grid).join(" "),
      show(tuned.llmrouter?.[name]),
      show(tuned.routerbench?.[name]),
    ]),
  };
}

function bestOf(regrets: Regrets["regrets"], names: readonly string[]): [string, number[]] {
  const best = names.reduce((a, b) => (mean(regrets.get(b)!) < mean(regrets.get(a)!) ? b : a));
  return [best, regrets.get(best)!];
}

function titleOf({ told, voteScale }: Cell): string {
  return `${told}, s=${voteScale}`;
}

function finalRegret(run: Run): number {
  return run.curve.at(-1)!;
}

function secondHalf(run: Run): number {
  const middle = curveRounds(LONG).findIndex((t) => t >= LONG / 2);
  return finalRegret(run) - run.curve[middle]!;
}

const REASONS = `## Where a goal is missed, and why

- **joust is not the lowest in every row.** With told scores that are right or nearly so, COLSTIM or MaxPairUCB on category
  features explore less and pay less; with permuted scores they fall far behind, for they have no way to stop believing
  them. mixllm and metallm lean on votes and are the best there, and pay for it where the scores are right. joust weighs
  both opinions by the votes, and is close to the best of either; that hedge is its price.
- **Noisy and permuted scores with blunt votes (s = 3 and 1).** A vote carries information in proportion to s^2. At s = 1
  seven hundred of them do not tell ten models apart in seven categories: with permuted scores no learner on RouterBench
  gets below twice the best fixed model's regret.
- **llmrouter-9models: the ratio to FGTS.CDB.** Regret is against the best model of each single query, which no
  category knows: even the best fixed model of hindsight has more than half of FGTS.CDB's regret, so a ratio of
  0.35 to 0.5 is out of reach of anything that routes by category. Told scores are means of five queries a task,
  never exact.
- **Below the best fixed model at T = 3000** in the mean for s = 10 and 3, though the interval has 0 in it; not for s = 1.
  The best fixed model is known in hindsight only.
`;

function preface(): string {
  return `# Policies compared

Every policy on two real data sets (MiniLM vectors), the same ${RUNS} worlds and voters for all,
vote scales ${SCALES.join(", ")}, told scores exact, noisy and permuted. No learner is told the vote
scale. Each data set is reported with the options tuned on the other one, under the same budget for
all; FGTS.CDB besides with the weighting that is best for it in each cell, found with other seeds.
\`joust\` is as shipped, \`joust (tuned)\` treated like the others. Its defaults were chosen while
looking at RouterBench and llmrouter-9models with other seeds, so that its rows are out of sample in
worlds and voters, not in the data sets. On RouterBench "noisy" means that the truth is the told score plus N(0, 0.1); on llmrouter-9models
the told scores are means of five offline queries a task ("exact"), those plus N(0, 0.1) ("noisy"), or
another model's row ("permuted"). Made by \`npm run bench -- tune\` and \`npm run bench -- policies\`;
the tables are in [tables/](tables/) as CSV and LaTeX too.
`;
}
