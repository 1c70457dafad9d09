import { createPolicy } from "../src/core/bandit/options.ts";
import { joust } from "../src/core/bandit/policies/joust.ts";
import { parsePolicies } from "../src/core/policy-spec/policy-spec.ts";
import { Random } from "../src/core/random/random.ts";
import { Router } from "../src/core/router.ts";
import { type Interval, meanInterval } from "../src/core/statistics.ts";
import { fromBytes, toBytes } from "../src/learner/canonical.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { runCell } from "./cell-runs.ts";
import { openDatasets, settingsOf } from "./datasets.ts";
import { median } from "./median.ts";
import { fillPage, publish } from "./publish.ts";
import { type Load, type Outcome, simulatePipeline, type Times } from "./scale/pipeline.ts";

const REQUESTS = [1000, 10_000, 100_000];
const REGIONS = [1, 3, 6];
const SHARES = { duels: 0.02, voted: 0.05 };
/** Milliseconds of networks and services, as cloud providers publish them; not measured here. */
const NETWORK = { near: 0.5, far: 75, append: 5, put: 30 };
const SETTINGS = { save: 250, lease: 10_000 };
const VOTE_BYTES = 1200;
const BANDWIDTH = 12_500; // bytes per millisecond: 100 Mbit/s
/** Bytes of a logged decision, and the share of decisions that are logged at this size of installation. */
const DECISION_BYTES = 900;
const SAMPLED = 0.01;
/** Delays of votes, in requests that may be duels. */
const DELAYS = [0, 10, 100, 1000];
const ROUNDS = 3000;
const RUNS = 20;

/** Simulates the design beyond one database and writes the tables of docs/scale.md. */
export async function scale(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const { times, snapshot } = measured();
  const sizes = { vote: VOTE_BYTES, snapshot, bandwidth: BANDWIDTH };
  const rows = REQUESTS.flatMap((requests) =>
    REGIONS.map((regions) => {
      const load: Load = { requests, regions, ...SHARES };
      const random = Random.seeded(1).split(requests).split(regions);
      return { load, outcome: simulatePipeline(load, times, sizes, random) };
    }),
  );
  const runs = flags.rounds ?? RUNS;
  const regrets = await regretsByDelay(runs);
  const pipeline = await publish("scale", pipelineTable(rows));
  const staleness = await publish("staleness", stalenessTable(regrets, runs));
  const measurements = `One vote is folded in ${(1000 * times.fold).toFixed(0)} us; a snapshot has ${(snapshot / 1000).toFixed(0)} kB, is serialised in ${times.serialize.toFixed(1)} ms and installed in ${times.install.toFixed(1)} ms (ten models, seven categories, 200 voters).\n`;
  await fillPage("scale.md", `${measurements}\n${pipeline}\n${staleness}`);
  const worst = rows.at(-1)!.outcome;
  return {
    ratios: {
      "regret at 100 votes of delay / without delay":
        regrets[2]!.regret.mean / regrets[0]!.regret.mean,
    },
    figures: {
      "lag p99 at 100,000 requests/s, 6 regions, ms": worst.lag.p99,
      "learner busy at 100,000 requests/s, share": worst.learnerBusy,
    },
  };
}

/** Times of our own code and the size of a snapshot, for ten models and seven categories. */
function measured(): { times: Times; snapshot: number } {
  const random = Random.seeded(2);
  const [K, M, dimension, voters] = [10, 7, 256, 200];
  const vector = () => Float64Array.from({ length: dimension }, () => random.normal() / 16);
  const pool = {
    models: Array.from({ length: K }, (_, k) => `m${k}`),
    categories: Array.from({ length: M }, (_, m) => `c${m}`),
    centroids: Array.from({ length: M }, vector),
  };
  const newRouter = () => new Router(createPolicy(joust, pool), { weighVoters: true });
  const router = newRouter();
  const folds = Array.from({ length: 5000 }, (_, i) => {
    const x = vector();
    const a = random.integer(K);
    const pair = [a, (a + 1 + random.integer(K - 1)) % K] as const;
    const start = performance.now();
    const outcome = random.uniform() < 0.5 ? "a" : "b";
    router.vote({ x, pair, values: undefined }, outcome, random.split(i), `v${i % voters}`);
    return performance.now() - start;
  });
  const { policy, voters: voterState } = router.snapshot();
  let bytes: Uint8Array = new Uint8Array();
  const serialize = timesOf(() => {
    bytes = toBytes({ policy, voters: voterState });
  });
  const install = timesOf(() => {
    newRouter().restore(fromBytes(bytes) as { policy: typeof policy; voters: typeof voterState });
  });
  const own = { fold: median(folds), serialize: median(serialize), install: median(install) };
  return { times: { ...own, ...NETWORK, ...SETTINGS }, snapshot: bytes.length };
}

function timesOf(work: () => void): number[] {
  return Array.from({ length: 30 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}

interface Regret {
  readonly delay: number;
  readonly regret: Interval;
}

/** Regret of joust on RouterBench with told scores that are noisy, by the delay of votes. */
async function regretsByDelay(runs: number): Promise<Regret[]> {
  const [routerBench] = await openDatasets();
  const policies = await parsePolicies("joust", ".");
  const rows: Regret[] = [];
  for (const delay of DELAYS) {
    const cell = { voteScale: 3, told: "noisy" } as const;
    const settings = settingsOf(routerBench!, cell, { rounds: ROUNDS, runs, delay, seed: 1 });
    const [own] = await runCell(`scale-delay-${delay}`, routerBench!, settings, policies);
    rows.push({ delay, regret: meanInterval(own!.map(({ curve }) => curve.at(-1)!)) });
  }
  return rows;
}

function pipelineTable(rows: readonly { load: Load; outcome: Outcome }[]) {
  const number = (key: string, title: string) => ({ key, title, kind: "number" }) as const;
  const whole = (key: string, title: string) => ({ key, title, kind: "whole" }) as const;
  return {
    title: "From a vote to the nodes that serve with it, by requests per second and regions",
    columns: [
      whole("requests", "requests/s"),
      whole("regions", "regions"),
      whole("votes", "votes/s"),
      whole("acknowledged", "vote acknowledged, p99, ms"),
      whole("lag_p50", "lag p50, ms"),
      whole("lag_p99", "lag p99, ms"),
      whole("lag_death", "longest lag after a learner's death, ms"),
      number("stale", "votes not yet served, mean"),
      number("busy", "learner busy, % of one core"),
      number("between", "between regions, MB/s"),
      number("log", "decisions logged (1%), GB/day"),
    ],
    rows: rows.map(({ load, outcome }) => [
      load.requests,
      load.regions,
      outcome.votesPerSecond,
      outcome.acknowledged,
      outcome.lag.p50,
      outcome.lag.p99,
      outcome.lagAfterDeath,
      outcome.staleVotes,
      100 * outcome.learnerBusy,
      outcome.bytesPerSecond / 1e6,
      (load.requests * SAMPLED * DECISION_BYTES * 86_400) / 1e9,
    ]),
  };
}

function stalenessTable(regrets: readonly Regret[], runs: number) {
  return {
    title: `Regret of joust after ${ROUNDS} requests, by the delay of votes (RouterBench, noisy told scores, s = 3, ${runs} runs)`,
    columns: [
      { key: "delay", title: "delay, requests", kind: "whole" },
      { key: "regret", title: "regret", kind: "interval" },
    ],
    rows: regrets.map(({ delay, regret }) => [delay, regret]),
  } as const;
}
