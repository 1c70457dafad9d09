import { sigmoid } from "../core/bandit/btl.ts";
import { createPolicy } from "../core/bandit/options.ts";
import { joust } from "../core/bandit/policies/joust.ts";
import type { Pool } from "../core/bandit/policy.ts";
import { Random } from "../core/random/random.ts";
import { Router } from "../core/router.ts";
import type { Decision } from "../store/decision.ts";
import type { Verdict, Voted } from "../store/events.ts";
import { toFloat32 } from "../store/vector.ts";

const CATEGORIES = 3;
const VOTE_SCALE = 5;

/** A small world with known utilities of K models in three categories. The pool contains them with errors. */
export class World {
  readonly pool: Pool;
  readonly #utilities: readonly Float64Array[];
  readonly #random: Random;

  constructor(seed: number, K: number) {
    this.#random = Random.seeded(seed);
    const draw = this.#random.split("utilities");
    const categories = Array.from({ length: CATEGORIES }, (_, m) => `c${m}`);
    this.#utilities = Array.from({ length: K }, () =>
      Float64Array.from(categories, () => draw.uniform() / 2),
    );
    this.pool = {
      models: this.#utilities.map((_, k) => `m${k}`),
      categories,
      centroids: categories.map((_, m) => Float64Array.from(categories, (_, i) => Number(i === m))),
      told: this.#utilities.map((row) => row.map((value) => value + 0.1 * draw.normal())),
    };
  }

  /** The query of round t and its category. */
  query(t: number): { readonly x: Float64Array; readonly m: number } {
    const random = this.#random.split(t).split("query");
    const m = random.integer(CATEGORIES);
    return {
      m,
      x: toFloat32(this.pool.centroids[m]!.map((value) => value + random.normal() / 20)),
    };
  }

  /** Probability that k is preferred to j. */
  preferred(m: number, k: number, j: number): number {
    return sigmoid(VOTE_SCALE * (this.#utilities[k]![m]! - this.#utilities[j]![m]!));
  }

  /** Probability that k is preferred to a model drawn from the pool. */
  borda(m: number, k: number): number {
    const { models } = this.pool;
    const wins = models.map((_, j) => (j === k ? 0.5 : this.preferred(m, k, j)));
    return wins.reduce((sum, p) => sum + p, 0) / models.length;
  }

  /** Serves queries with the policy joust and exploration. A share `rate` of the duels is voted on. */
  *serve(rounds: number, explore: number, rate: number) {
    const { models } = this.pool;
    const router = new Router(createPolicy(joust, this.pool), { explore });
    const candidates = models.map((_, k) => k);
    for (let t = 0; t < rounds; t++) {
      const random = this.#random.split(t);
      const { x, m } = this.query(t);
      // Like the gateway, it uses one seed per decision, which is logged.
      const seed = random.split("seed").integer(2 ** 32);
      const { pair, propensity, values } = router.route({ x, candidates }, Random.seeded(seed));
      const [a, b] = pair;
      const isVoted = a !== b && random.split("rate").uniform() < rate;
      const win = random.split("vote").uniform() < this.preferred(m, a, b) ? 1 : 0;
      const outcome = win === 1 ? ("a" as const) : ("b" as const);
      if (isVoted) router.vote({ x, pair, values }, outcome, random.split("learn"));
      yield {
        t,
        m,
        x,
        seed,
        pair,
        propensity,
        values: [...values!],
        outcome: isVoted ? outcome : undefined,
        win: isVoted ? win : undefined,
      };
    }
  }
}

export type Served = ReturnType<World["serve"]> extends Generator<infer S> ? S : never;

/** A decision of the world as a logged event. */
export function routedIn({ pool }: World, served: Served, at: number): Decision {
  const { models } = pool;
  const { t, x, seed, pair, propensity, values } = served;
  return {
    kind: "routed",
    router: "auto",
    at,
    id: `d${t}`,
    mode: "apply",
    encoder: "world",
    x,
    candidates: models,
    pair: [models[pair[0]]!, models[pair[1]]!],
    propensity,
    answers: "any",
    seed,
    version: 0,
    values,
    costs: models.map((_, k) => (k + 1) / 1000),
    lambda: 0,
  };
}

/** A vote on a duel of the world as a logged event. */
export function votedIn(decision: Decision, verdict: Verdict, at: number): Voted {
  const { id, router, encoder, x, pair, candidates, values } = decision;
  return {
    kind: "voted",
    router,
    at,
    decision: id,
    voter: "",
    verdict,
    source: "user",
    weight: 1,
    encoder,
    x,
    models: pair,
    values: pair.map((name) => values![candidates.indexOf(name)]!),
  };
}
