import { createHash } from "node:crypto";
import { createPolicy } from "../core/bandit/options.ts";
import type { PolicyKind, Snapshot } from "../core/bandit/policy.ts";
import type { VotersState } from "../core/bandit/voters.ts";
import { Random } from "../core/random/random.ts";
import { Router, type RouterSettings } from "../core/router.ts";
import type { Configured, Logged, Voted } from "../store/events.ts";
import { fromBytes, toBytes } from "./canonical.ts";

/** The policies that a configuration may name. */
export type Kinds = (policy: string) => PolicyKind;

/**
 * What the votes so far have taught. Votes and configurations in, a posterior
 * out: no clock and no generator but one made of the seed and the vote's
 * position, so the same votes always give the same posterior, to the last bit.
 */
export class Fold {
  readonly #kinds: Kinds;
  /** All events up to here are in. It is the posterior's version too. */
  position = 0;
  #base = 0;
  #configuration: Logged<Configured> | undefined;
  #router: Router | undefined;
  #counts: FoldCounts = { votes: 0, retired: 0, foreign: 0 };

  constructor(kinds: Kinds) {
    this.#kinds = kinds;
  }

  /** Position of the configuration that learning began with; 0: none yet. */
  get base(): number {
    return this.#base;
  }

  get configuration(): Logged<Configured> | undefined {
    return this.#configuration;
  }

  get router(): Router | undefined {
    return this.#router;
  }

  get counts(): FoldCounts {
    return this.#counts;
  }

  /** Starts from what is told. */
  begin(configuration: Logged<Configured>): void {
    this.#base = configuration.position;
    this.#configuration = configuration;
    this.#router = routerOf(configuration, this.#kinds);
  }

  /** Goes on with other models: what is known of those that stay is kept, newcomers start fresh. */
  configure(configuration: Logged<Configured>): void {
    const { policy, voters } = this.#router!.snapshot();
    this.#configuration = configuration;
    this.#router = routerOf(configuration, this.#kinds);
    this.#router.restore({ policy, voters });
  }

  learn(vote: Logged<Voted>): void {
    const { pool, encoder, seed } = this.#configuration!;
    const { x, models, verdict, weight, position } = vote;
    const places = models.map((name) => pool.models.indexOf(name));
    if (encoder !== vote.encoder || x.length !== pool.centroids[0]!.length) {
      this.#counts = { ...this.#counts, foreign: this.#counts.foreign + 1 };
      return;
    }
    if (places.includes(-1)) {
      this.#counts = { ...this.#counts, retired: this.#counts.retired + 1 };
      return;
    }
    const random = Random.seeded(seed).split("learn").split(position);
    const voter = vote.voter === "" ? undefined : vote.voter;
    const [a, b] = [places[0]!, places[1] ?? places[0]!];
    let values: Float64Array | undefined;
    if (vote.values) {
      values = new Float64Array(pool.models.length);
      for (const [i, k] of places.entries()) values[k] = vote.values[i]!;
    }
    const judged = { x, pair: [a, b] as const, values };
    const router = this.#router!;
    if ("outcome" in verdict) router.vote(judged, verdict.outcome, random, voter, weight);
    else if ("rating" in verdict) router.rate(judged, a, verdict.rating, random, voter, weight);
    else router.rank(judged, places, random, voter, weight);
    this.#counts = { ...this.#counts, votes: this.#counts.votes + 1 };
  }

  /** Of what was learnt alone: equal for equal votes, wherever they stand in a log. */
  hash(): string {
    return hashOf(this.#posterior());
  }

  toBytes(): Uint8Array {
    return toBytes({
      position: this.position,
      base: this.#base,
      configuration: this.#configuration?.position ?? 0,
      counts: this.#counts,
      posterior: this.#posterior(),
    } satisfies FoldState);
  }

  /** Takes up what another has written; `configurationAt` finds a configuration by its position. */
  static fromBytes(
    bytes: Uint8Array,
    kinds: Kinds,
    configurationAt: (position: number) => Logged<Configured> | undefined,
  ): Fold {
    const state = readState(bytes);
    const fold = new Fold(kinds);
    fold.position = state.position;
    fold.#base = state.base;
    fold.#counts = state.counts;
    if (!state.posterior) return fold;
    const configuration = configurationAt(state.configuration);
    if (!configuration) throw new RangeError(`no configuration at ${state.configuration}`);
    fold.#configuration = configuration;
    fold.#router = routerOf(configuration, kinds);
    fold.#router.restore(state.posterior);
    return fold;
  }

  #posterior(): Posterior | undefined {
    if (!this.#router) return undefined;
    const { policy, voters } = this.#router.snapshot();
    return { policy, voters };
  }
}

/** What a snapshot holds. */
export interface FoldState {
  readonly position: number;
  readonly base: number;
  /** Position of the configuration that the posterior is of. */
  readonly configuration: number;
  readonly counts: FoldCounts;
  readonly posterior: Posterior | undefined;
}

export interface Posterior {
  readonly policy: Snapshot;
  readonly voters: VotersState;
}

export interface FoldCounts {
  /** Learnt from. */
  readonly votes: number;
  /** Passed over: about a model that had left the pool, or with another encoder's x. */
  readonly retired: number;
  readonly foreign: number;
}

/** SHA-256 of the canonical bytes: equal for posteriors that are equal to the last bit. */
export function hashOf(posterior: Posterior | undefined): string {
  return createHash("sha256").update(toBytes(posterior)).digest("hex");
}

export function readState(bytes: Uint8Array): FoldState {
  return fromBytes(bytes) as FoldState;
}

/** `settings` are those that only serving needs: they change nothing that is learnt. */
export function routerOf(
  { pool, policy, options, weighVoters }: Configured,
  kinds: Kinds,
  settings: Partial<RouterSettings> = {},
): Router {
  return new Router(createPolicy(kinds(policy), pool, options), { ...settings, weighVoters });
}
