import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createPolicy } from "../src/core/bandit/options.ts";
import { POLICIES } from "../src/core/bandit/policies/index.ts";
import { argmax, type Policy } from "../src/core/bandit/policy.ts";
import { Random } from "../src/core/random/random.ts";
import {
  type Arrival,
  createEnvironment,
  type Environment,
} from "../src/lab/simulate/environment.ts";
import type { Settings } from "../src/lab/simulate/settings.ts";
import { castVote } from "../src/lab/simulate/voter.ts";
import { type BenchDataset, settingsOf } from "./datasets.ts";
import { STATIC_ROUTERS } from "./policy-contenders.ts";

/** Numbers of evaluated queries per task. */
export const LABELS = [0, 5, 20, 80];
/** Numbers of votes after which joust is measured. */
export const VOTES = [0, 25, 50, 100, 200, 400];
/** Utilities that the mean cost of the most expensive model is worth. */
const COST_WEIGHTS = [0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2];
const SEED = 1;
const VOTE_SCALE = 3;
/** Rounds in which joust may ask for votes, and queries after them on which all routers are measured. */
const ROUNDS = 3000;
const TESTED = 600;

/** Mean quality and mean cost of single answers, at each of `COST_WEIGHTS`. */
export interface Measured {
  readonly quality: readonly number[];
  readonly cost: readonly number[];
}

/** The results of one run with one number of labels. */
export interface AnswerRun {
  readonly run: number;
  readonly labels: number;
  /** By the name of the router. joust is named with its number of votes, as `joust 100`. */
  readonly routers: Readonly<Record<string, Measured>>;
  /** Quality and cost of each model alone, by its name. */
  readonly models: Readonly<Record<string, { readonly quality: number; readonly cost: number }>>;
  /** Votes that joust had asked for after each thousand rounds. */
  readonly votes: readonly number[];
}

/** The numbers from which costs are computed. */
export interface Tariff {
  /** US dollars per token of each model; a prompt and its answer have the same price. */
  readonly prices: Readonly<Record<string, number>>;
  /** Tokens of the prompt and of an answer to it, by the id of the query. */
  readonly tokens: ReadonlyMap<string, number>;
}

/** Measures the missing runs and returns all. Finished runs are kept in out/, so an interrupted benchmark continues. */
export function answerRuns(
  dataset: BenchDataset,
  tariff: Tariff,
  runs: number,
  end: number,
): AnswerRun[] {
  const file = resolve(import.meta.dirname, "../out/bench/answers.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  const known = readLines(file);
  for (let run = 0; run < runs; run++) {
    for (const labels of LABELS) {
      if (known.some((one) => one.run === run && one.labels === labels)) continue;
      if (performance.now() > end) return known;
      const found = measureRun(dataset, tariff, run, labels);
      appendFileSync(file, `${JSON.stringify(found)}\n`);
      known.push(found);
    }
  }
  return known.filter(({ run }) => run < runs);
}

function readLines(file: string): AnswerRun[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as AnswerRun);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function measureRun(dataset: BenchDataset, tariff: Tariff, run: number, labels: number): AnswerRun {
  const settings: Settings = {
    ...settingsOf(
      dataset,
      { voteScale: VOTE_SCALE, told: "exact" },
      { rounds: ROUNDS + TESTED, runs: 1, seed: SEED },
    ),
    offline: labels === 0 ? 5 : labels,
    told: { kind: labels === 0 ? "none" : "offline" },
  };
  const random = Random.seeded(SEED).split(run);
  const { dataset: data, embeddings } = dataset.source;
  const environment = createEnvironment(data, embeddings, settings, random.split("environment"));
  const { models } = environment.pool;
  const tested = Array.from({ length: TESTED }, (_, i) => environment.at(ROUNDS + i));
  const test = testOf(tested, models, tariff);
  const routers: Record<string, Measured> = {};
  const votes = learn(environment, settings, random.split("policy"), (count, policy) => {
    routers[`joust ${count}`] = test.measure(policy);
  });
  if (labels > 0) {
    for (const { kind } of STATIC_ROUTERS) {
      const found = POLICIES.find(({ name }) => name === kind)!;
      routers[kind] = test.measure(createPolicy(found, environment.pool));
    }
  }
  const alone = models.map((name, k) => [name, test.alone(k)] as const);
  return { run, labels, routers, models: Object.fromEntries(alone), votes };
}

/**
 * joust answers the queries of the stream, and every duel gets a vote. Calls `at` when it has each
 * number of `VOTES`; a number that it does not reach is measured at the end.
 */
function learn(
  { pool, at: arrivalAt }: Environment,
  settings: Settings,
  random: Random,
  at: (votes: number, policy: Policy) => void,
): number[] {
  const policy = createPolicy(POLICIES.find(({ name }) => name === "joust")!, pool);
  const candidates = pool.models.map((_, k) => k);
  const due = [...VOTES];
  const counts: number[] = [];
  let votes = 0;
  for (let t = 0; t < ROUNDS; t++) {
    if (votes === due[0]) at(due.shift()!, policy);
    const round = random.split(t);
    const arrival = arrivalAt(t);
    const { pair } = policy.choose({ x: arrival.x, candidates }, round.split("choose"));
    if (pair[0] !== pair[1]) {
      const shown = round.split("order").uniform() < 0.5 ? pair : ([pair[1], pair[0]] as const);
      const { outcome } = castVote(arrival, shown, settings, round.split("vote"));
      policy.learn({ kind: "duel", x: arrival.x, pair: shown, outcome }, round.split("learn"));
      votes++;
    }
    if ((t + 1) % 1000 === 0) counts.push(votes);
  }
  for (const count of due) at(count, policy);
  return counts;
}

/** Measures routers on the same queries. The cost of an answer is known before it is asked for. */
function testOf(tested: readonly Arrival[], models: readonly string[], tariff: Tariff) {
  const costs = tested.map(({ query }) => {
    const tokens = tariff.tokens.get(query.id)!;
    return models.map((name) => tariff.prices[name]! * tokens);
  });
  const meanCost = (k: number) => costs.reduce((sum, row) => sum + row[k]! / costs.length, 0);
  const candidates = models.map((_, k) => k);
  const unit = Math.max(...candidates.map(meanCost));
  return {
    alone(k: number) {
      const quality = tested.reduce((sum, { scores }) => sum + scores[k]! / tested.length, 0);
      return { quality, cost: meanCost(k) };
    },
    measure(policy: Policy): Measured {
      const quality = COST_WEIGHTS.map(() => 0);
      const cost = COST_WEIGHTS.map(() => 0);
      tested.forEach(({ x, scores }, i) => {
        const round = { x, candidates, answers: 1 } as const;
        const random = Random.seeded(i);
        const { values } = policy.choose(round, random);
        COST_WEIGHTS.forEach((weight, w) => {
          const worth = (k: number) => values![k]! - (weight * costs[i]![k]!) / unit;
          const chosen = argmax(candidates, worth, random);
          quality[w]! += scores[chosen]! / tested.length;
          cost[w]! += costs[i]![chosen]! / tested.length;
        });
      });
      return { quality, cost };
    },
  };
}
