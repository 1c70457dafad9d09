import { Random } from "../../random/random.ts";
import { easyProblem } from "../policy.case.ts";
import type { Duel, Options, Policy, PolicyKind, Pool } from "../policy.ts";

/** The pool of the conformance suite, and random votes on random pairs. */
export const { pool, at } = easyProblem(1);
export const K = pool.models.length;
export const candidates = pool.models.map((_, k) => k);

export interface RandomVote {
  readonly x: Float64Array;
  readonly a: number;
  readonly b: number;
  readonly win: number;
  readonly weight: number;
}

export function randomDuels(count: number, seed: number): RandomVote[] {
  const random = Random.seeded(seed);
  return Array.from({ length: count }, (_, t) => {
    const a = random.integer(K);
    const b = (a + 1 + random.integer(K - 1)) % K;
    return { x: at(t).x, a, b, win: random.integer(3) / 2, weight: 0.2 + 0.8 * random.uniform() };
  });
}

/** Returns a policy that has learned from the votes. It ignores the told scores by default. */
export function taught<O extends Options & { prior: number }>(
  kind: PolicyKind<O>,
  votes: readonly RandomVote[],
  options: Partial<O> = {},
  of: Pool = pool,
): Policy {
  const policy = kind.create(of, { ...kind.defaults, prior: 0, ...options });
  votes.forEach((vote, t) => {
    policy.learn(duel(vote), Random.seeded(t));
  });
  return policy;
}

function duel({ x, a, b, win, weight }: RandomVote): Duel {
  const outcome = win === 1 ? "a" : win === 0 ? "b" : "tie";
  return { kind: "duel", x, pair: [a, b], outcome, weight };
}

/** Returns the values of a policy for a query. */
export function valuesAt(policy: Policy, x: Float64Array): Float64Array {
  return policy.choose({ x, candidates }, Random.seeded(1)).values!;
}

export function cosine(p: Float64Array, q: Float64Array): number {
  const product = p.reduce((sum, value, i) => sum + value * q[i]!, 0);
  return product / Math.hypot(...p) / Math.hypot(...q);
}

/** Returns the n votes nearest to x, in their order, by sorting all votes. */
export function nearestVotes(votes: readonly RandomVote[], x: Float64Array, n: number) {
  return votes
    .map((vote, t) => ({ vote, t, cosine: cosine(vote.x, x) }))
    .sort((p, q) => q.cosine - p.cosine)
    .slice(0, n)
    .sort((p, q) => p.t - q.t)
    .map(({ vote }) => vote);
}
