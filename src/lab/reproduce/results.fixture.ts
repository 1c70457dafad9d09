/** Invented results for tests of figures and claims. */
import { readFileSync } from "node:fs";
import { Random } from "../../core/random/random.ts";
import { curveRounds } from "../simulate/run.ts";
import type { Curve } from "./curve.ts";
import { findDataSets } from "./data-sets.ts";
import type { FoundEncoder } from "./encoders.ts";
import type { LinearSpec, RunSpec, RunValue } from "./jobs/specs.ts";
import { INTERNAL_KINDS, Planner, QUICK, type Size } from "./planner.ts";
import { type DataNames, Results } from "./results.ts";
import { fgts } from "./setting.ts";

export const MINILM: FoundEncoder = {
  name: "MiniLM",
  ref: { name: "MiniLM", identity: "m" },
  kind: "transformer",
  dimension: 384,
  epochs: [2, 4],
};

export const STATIC: FoundEncoder = {
  name: "static",
  ref: { name: "static", identity: "s" },
  kind: "static",
  dimension: 256,
  epochs: [10],
};

/** A planner on the project's own questions. */
export async function newPlanner(
  encoders: readonly FoundEncoder[] = [MINILM, STATIC],
  size: Partial<Size> = {},
): Promise<Planner> {
  return new Planner(await findDataSets(undefined), encoders, { ...QUICK, ...size }, 1);
}

export const CURVE: Curve = {
  experiment: "routerbench",
  name: "MiniLM_E4_Excel_perf_cost_exp",
  encoder: "MiniLM",
  epochs: 4,
  group: "exp",
  weighting: "excel_perf_cost",
  examples: 0,
  policy: "fgts-cdb",
  form: "own",
  voteScale: 10,
  variant: "",
  runs: [],
};

/** A run whose regret grows by slope(t) in round t. */
export function runValue(rounds: number, slope: (t: number) => number, cost = 1): RunValue {
  const t = Array.from({ length: 10 }, (_, i) => ((i + 1) * rounds) / 10);
  let total = 0;
  const regret = t.map((round, i) => {
    for (let r = (t[i - 1] ?? 0) + 1; r <= round; r++) total += slope(r);
    return total;
  });
  return { t, regret, priced: regret, score: 0.5, cost, agreement: 0.5, choices: [] };
}

/** Random values of the right shape for every job of a plan. */
export function inventedResults(planner: Planner): Results {
  const random = Random.seeded(1);
  const categories = ["one", "two", "three"];
  const models = Array.from({ length: 11 }, (_, k) => `model ${k}`);
  const table = (columns: readonly unknown[]) =>
    categories.map(() => columns.map(() => random.uniform()));
  const shown = planner.plan.jobs.filter(({ kind }) => !INTERNAL_KINDS.includes(kind));
  const names = namesInTable(planner);
  const values = shown.map(({ id, kind, spec }): [string, unknown] => {
    const own = random.split(id);
    if (kind === "data") return [id, names];
    if (kind === "describe") {
      const [within, across, accuracy] = [0.5, 0.2, 0.8];
      const maps = { byCategory: table(categories), byModel: table(models) };
      return [id, { categories, models, within, across, accuracy, ...maps }];
    }
    if (kind === "project") {
      const category = Array.from({ length: 60 }, (_, i) => i % 3);
      const points = category.map((m) => [own.normal() + 9 * m, own.normal(), own.normal()]);
      return [id, { categories, category, points, divergence: 1 }];
    }
    const { rounds } = kind === "linear" ? (spec as LinearSpec) : (spec as RunSpec).stream;
    const t = curveRounds(rounds === "once" ? 595 : rounds);
    const slope = 0.05 + 0.2 * own.uniform();
    const regret = t.map((round) => slope * (round + 30 * Math.sqrt(round)));
    const choices = names.categories.map(() => names.models.map(() => own.uniform()));
    return [id, { t, regret, priced: regret, score: 0.5, cost: 1, agreement: 0.5, choices }];
  });
  return new Results(planner, new Map(values));
}

/** The models and categories of the project's own table of scores. */
function namesInTable({ data: { routerbench, paths } }: Planner): DataNames {
  if ("missing" in routerbench) throw new Error(routerbench.missing);
  const lines = readFileSync(paths[routerbench.scores.sha256]!, "utf8").trim().split("\n").slice(1);
  const column = (i: number) => [...new Set(lines.map((line) => line.split(",")[i]!))];
  return { models: column(0), categories: column(1) };
}

/** Curves with the given runs. */
export function resultsOf(
  planner: Planner,
  curves: readonly { readonly curve: Partial<Curve>; readonly runs: readonly RunValue[] }[],
): Results {
  const values = new Map<string, unknown>();
  for (const [c, { curve, runs }] of curves.entries()) {
    const ids = runs.map((run, r) => {
      const world = { models: 2, dimension: 2, rounds: run.t.at(-1)!, voteScale: 1 };
      const id = planner.linear({ ...world, policy: fgts(), seed: c, run: r });
      values.set(id, run);
      return id;
    });
    planner.curves.push({ ...CURVE, ...curve, runs: ids });
  }
  return new Results(planner, values);
}
