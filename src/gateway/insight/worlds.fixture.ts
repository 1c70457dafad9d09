import { davidson, sigmoid } from "../../core/bandit/btl.ts";
import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import type { Outcome, Pool } from "../../core/bandit/policy.ts";
import { dot } from "../../core/linalg/linalg.ts";
import { Random } from "../../core/random/random.ts";
import { Router } from "../../core/router.ts";
import { toFloat32 } from "../../store/vector.ts";
import { Calibrations, poolOf } from "../routing/calibration.ts";
import { DATA, paperSandbox } from "../sandbox/sandbox.fixture.ts";
import { SLIP, verdictOn } from "../sandbox/voters.ts";
import { leaderboardOf } from "./standings.ts";

/**
 * A kind of worlds whose truth is known. `sandbox` has the sandbox's voters, the others Davidson's
 * model of votes. In `prior` the qualities are drawn from the prior of the policy, in `table` they
 * are those of the paper's table.
 */
export interface World {
  readonly kind: "sandbox" | "prior" | "table";
  /** Number of models, drawn at random. */
  readonly models: number;
  readonly voteScale: number;
  /** Width of ties in Davidson's model. */
  readonly ties: number;
  /** With `noisy`, the true qualities are the told ones plus errors of sd 0.1. */
  readonly told: "none" | "noisy" | "exact";
}

/** Numbers of the leaderboard and their true values. */
export interface Checked {
  readonly votes: number;
  /** Models in categories, and on the mix of categories that was voted on. */
  readonly cells: readonly Interval[];
  readonly overall: readonly Interval[];
  /** Differences of two models in a category. */
  readonly differences: readonly Interval[];
  /** Probability of being the best in a category, and whether the model is. */
  readonly best: readonly Predicted[];
  /** Probability that a vote prefers one of two models in a category, and the true one. */
  readonly wins: readonly Predicted[];
}

export interface Interval {
  readonly truth: number;
  readonly lo: number;
  readonly hi: number;
}

interface Predicted {
  readonly predicted: number;
  readonly truth: number;
}

const { profile, questions } = paperSandbox;
const places = { search: [], download: "", hubCache: "" };
const encoders = { models: places, openai: { apiKey: undefined }, embeddingCache: "" };
const calibration = await new Calibrations({ data: DATA, encoders }).open({});
const vectors = await calibration.encoder.encode(questions.map(({ query }) => query));
const M = profile.categories.length;
/** Embeddings of the project's questions by category. */
export const byCategory = profile.categories.map((category) =>
  questions.flatMap((question, i) =>
    question.category === category ? [toFloat32(vectors[i]!)] : [],
  ),
);

/** Lets the policy collect votes in a world, and compares its leaderboard with the truth at some numbers of votes. */
export function playWorld(world: World, seed: number, checkpoints: readonly number[]): Checked[] {
  const random = Random.seeded(seed);
  const { pool, truth, cells, vote, win } = createWorld(world, random.split("world"));
  const router = new Router(createPolicy(joust, pool), { explore: 0.02 });
  const membership = categoryMembership(pool.centroids);
  const candidates = pool.models.map((_, k) => k);
  const checked: Checked[] = [];
  /** Categories of the last 512 queries. */
  const recent: number[] = [];
  for (let t = 1; t <= checkpoints.at(-1)!; t++) {
    const m = random.integer(M);
    const x = byCategory[m]![random.integer(byCategory[m]!.length)]!;
    const decision = router.route({ x, candidates, answers: 2 }, random.split(t));
    router.vote(decision, vote(decision.pair, m, x, random), random);
    recent.push(m);
    if (recent.length > 512) recent.shift();
    if (checkpoints.includes(t)) checked.push(check(t));
  }
  return checked;

  function check(votes: number): Checked {
    const { encoderName: encoder } = calibration;
    const posterior = { pool, encoder, router, version: votes, membership };
    const { overall, categories } = leaderboardOf(posterior, Random.seeded(1));
    const report = reportOf(router.policy)!;
    const samples = Array.from({ length: 400 }, () => report.sampleStandings(random));
    const pairs = candidates.flatMap((a) => candidates.slice(a + 1).map((b) => [a, b] as const));
    const share = (m: number) => recent.filter((n) => n === m).length / recent.length;
    return {
      votes,
      cells: categories.flatMap(({ models }, m) =>
        models.map(({ model, lo, hi }) => {
          return { truth: cells[pool.models.indexOf(model)]![m]!, lo: lo!, hi: hi! };
        }),
      ),
      overall: overall.map(({ model, lo, hi }) => {
        const row = cells[pool.models.indexOf(model)]!;
        return {
          truth: row.reduce((sum, value, m) => sum + share(m) * value, 0),
          lo: lo!,
          hi: hi!,
        };
      }),
      differences: categories.flatMap((_, m) => {
        const drawn = samples.map((sample) => sample.onCategory(m));
        return pairs.map(([a, b]) => {
          const gaps = drawn.map((f) => f[a]! - f[b]!).sort((p, q) => p - q);
          return { truth: cells[a]![m]! - cells[b]![m]!, lo: gaps[9]!, hi: gaps[390]! };
        });
      }),
      best: categories.flatMap(({ models }, m) => {
        const top = Math.max(...truth.map((row) => row[m]!));
        return models.map(({ model, best }) => ({
          predicted: best!,
          truth: Number(truth[pool.models.indexOf(model)]![m] === top),
        }));
      }),
      wins: categories.flatMap((_, m) => {
        const { beats } = report.onCategory(m);
        return pairs.map(([a, b]) => ({ predicted: beats(a, b), truth: win(a, b, m) }));
      }),
    };
  }
}

/** Draws a world: its pool, the qualities, and the same as the leaderboard shows them. */
export function createWorld(world: World, random: Random) {
  const { kind, voteScale: s, ties, told } = world;
  const models = random.shuffle([...profile.models]).slice(0, world.models);
  const table = models.map((model) =>
    Float64Array.from(profile.categories, (category) => profile.quality(model, category)),
  );
  const spread = [0.15, 0.3, 0.6][random.integer(3)]!;
  const truth = table.map((row) => {
    if (kind === "prior") {
      const own = Math.sqrt(0.3) * random.normal();
      return row.map(() => spread * (own + Math.sqrt(0.7) * random.normal()));
    }
    return told === "noisy" ? row.map((value) => value + 0.1 * random.normal()) : row;
  });
  const pool: Pool = { ...poolOf(calibration, models), ...(told !== "none" && { told: table }) };
  const membership = categoryMembership(pool.centroids);
  // P(preferred) - P(other preferred) per unit of quality; told scores define the unit themselves.
  const margin = kind === "sandbox" ? 1 - 2 * SLIP : s / (2 + ties);
  const unit = told === "none" ? margin : 1;
  const middles = Array.from({ length: M }, (_, m) => mean(truth.map((row) => row[m]!)));
  const cells = truth.map((row) => row.map((value, m) => unit * (value - middles[m]!)));
  const right = (a: number, b: number, m: number) => truth[a]![m]! * (1 - truth[b]![m]!);
  return {
    pool,
    truth,
    cells,
    /** True probability that a vote with a winner prefers a. */
    win: (a: number, b: number, m: number) => {
      if (kind !== "sandbox") return sigmoid(s * (truth[a]![m]! - truth[b]![m]!));
      const [ab, ba] = [right(a, b, m), right(b, a, m)];
      // Half of the votes on equally good answers have a winner, which is random.
      const even = (1 - ab - ba) / 4;
      return (ab * (1 - SLIP) + ba * SLIP + even) / (ab + ba + 2 * even);
    },
    vote: (pair: readonly [number, number], m: number, x: Float64Array, own: Random): Outcome => {
      const [a, b] = pair;
      if (kind === "sandbox") {
        const isRight = pair.map((k) => own.uniform() < truth[k]![m]!);
        const verdict = verdictOn(isRight, own);
        return verdict === 0 ? "a" : verdict === 1 ? "b" : verdict;
      }
      // In worlds of the prior, the utility is linear in the membership, as the policy assumes.
      const w = kind === "prior" && membership(x);
      const utility = (k: number) => (w ? dot(w, truth[k]!) : truth[k]![m]!);
      const p = davidson(s * (utility(a) - utility(b)), ties);
      const u = own.uniform();
      return u < p.a ? "a" : u < p.a + p.tie ? "tie" : "b";
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** Share of the intervals that contain the truth. */
export function shareInside(intervals: readonly Interval[]): number {
  return (
    intervals.filter(({ truth, lo, hi }) => lo <= truth && truth <= hi).length / intervals.length
  );
}

/** Slope of the regression of the truth on the prediction: 1 if predictions are calibrated. */
export function slopeOf(pairs: readonly Predicted[]): number {
  const n = pairs.length;
  const x = pairs.reduce((sum, { predicted }) => sum + predicted / n, 0);
  let [xy, xx] = [0, 0];
  for (const { predicted, truth } of pairs) {
    xy += (predicted - x) * truth;
    xx += (predicted - x) ** 2;
  }
  return xy / xx;
}

/** Mean predicted and true values of ten groups, by the prediction. */
export function reliability(pairs: readonly Predicted[]): Predicted[] {
  const sorted = pairs.toSorted((a, b) => a.predicted - b.predicted);
  const size = Math.ceil(sorted.length / 10);
  return Array.from({ length: 10 }, (_, i) => {
    const part = sorted.slice(i * size, (i + 1) * size);
    return {
      predicted: mean(part.map(({ predicted }) => predicted)),
      truth: mean(part.map(({ truth }) => truth)),
    };
  });
}
