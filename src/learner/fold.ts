import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { createPolicy, withoutRemoved } from "../core/bandit/options.ts";
import type { Options, PolicyKind, Snapshot } from "../core/bandit/policy.ts";
import type { VotersState } from "../core/bandit/voters.ts";
import { Random } from "../core/random/random.ts";
import { Router, type RouterSettings } from "../core/router.ts";
import type { Configured, Logged, Voted } from "../store/events.ts";
import { fromBytes, toBytes } from "./canonical.ts";
import { originOf } from "./origin.ts";

/** Finds a policy by the name in a configuration, or throws. */
export type FindPolicy = (name: string) => PolicyKind;

/**
 * The posterior after the votes so far. It uses no clock, and its random numbers depend only on the
 * configured seed and the position of the vote: the same votes always give the same posterior, bit
 * for bit.
 */
export class Fold {
  readonly #findPolicy: FindPolicy;
  /** Position of the last folded event, which is also the version of the posterior. */
  position = 0;
  #base = 0;
  #configuration: Logged<Configured> | undefined;
  #router: Router | undefined;
  #counts: FoldCounts = { votes: 0, retired: 0, foreign: 0 };
  #isOutdated = false;

  constructor(findPolicy: FindPolicy) {
    this.#findPolicy = findPolicy;
  }

  /** Position of the configuration that learning started with, or 0 if there is none yet. */
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

  /** Starts with the prior of a configuration. */
  begin(configuration: Logged<Configured>): void {
    this.#base = configuration.position;
    this.#configuration = configuration;
    this.#router = routerOf(configuration, this.#findPolicy);
  }

  /** Continues with a changed pool: the posterior of remaining models is kept, new models start from the prior. */
  configure(configuration: Logged<Configured>): void {
    const { policy, voters } = this.#router!.snapshot();
    this.#configuration = configuration;
    this.#router = routerOf(configuration, this.#findPolicy);
    this.#router.restore({ policy, voters });
  }

  /**
   * Learns a vote, or skips it if its models or its embedding do not fit the configuration.
   * Comments are ignored. `voterWeight` is the weight that an operator has given to the voter. Returns
   * whether the vote was learned.
   */
  learn(vote: Logged<Voted>, voterWeight = 1): boolean {
    if ("comment" in vote.verdict) return false;
    const result = this.#learn(vote, vote.weight * voterWeight);
    this.#counts = { ...this.#counts, [result]: this.#counts[result] + 1 };
    return result === "votes";
  }

  #learn(vote: Logged<Voted>, weight: number): keyof FoldCounts {
    const { pool, encoder, seed } = this.#configuration!;
    const { x, models, verdict, position } = vote;
    const indices = models.map((name) => pool.models.indexOf(name));
    if (encoder !== vote.encoder || x.length !== pool.centroids[0]!.length) return "foreign";
    if (indices.includes(-1)) return "retired";
    const random = Random.seeded(seed).split("learn").split(position);
    const voter = vote.voter === "" ? undefined : vote.voter;
    const [a, b] = [indices[0]!, indices[1] ?? indices[0]!];
    let values: Float64Array | undefined;
    if (vote.values) {
      values = new Float64Array(pool.models.length);
      for (const [i, k] of indices.entries()) values[k] = vote.values[i]!;
    }
    const choice = { x, pair: [a, b] as const, values };
    const router = this.#router!;
    const origin = originOf(vote);
    if ("outcome" in verdict) router.vote(choice, verdict.outcome, random, voter, weight, origin);
    else if ("rating" in verdict) {
      router.rate(choice, a, verdict.rating, random, voter, weight, origin);
    } else if ("ranking" in verdict) router.rank(choice, indices, random, voter, weight);
    return "votes";
  }

  /** True if the snapshot comes from a version that learned the same votes in another way. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Whether the version that saved a snapshot learned in the same way as this one. */
  learnsLike(state: FoldState): boolean {
    return !isOutdated(state, this.#configuration, this.#findPolicy);
  }

  /** Hash of the posterior alone. It does not depend on positions in the log. */
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
      method: this.#configuration && methodOf(this.#configuration, this.#findPolicy),
    } satisfies FoldState);
  }

  /** Restores a fold from `toBytes`. `configurationAt` finds a configuration by its position. */
  static fromBytes(
    bytes: Uint8Array,
    findPolicy: FindPolicy,
    configurationAt: (position: number) => Logged<Configured> | undefined,
  ): Fold {
    const state = readState(bytes);
    const fold = new Fold(findPolicy);
    fold.position = state.position;
    fold.#base = state.base;
    fold.#counts = state.counts;
    if (!state.posterior) return fold;
    const configuration = configurationAt(state.configuration);
    if (!configuration) throw new RangeError(`no configuration at ${state.configuration}`);
    fold.#configuration = configuration;
    fold.#router = routerOf(configuration, findPolicy);
    fold.#isOutdated = !fold.learnsLike(state);
    fold.#router.restore(state.posterior);
    return fold;
  }

  #posterior(): Posterior | undefined {
    if (!this.#router) return undefined;
    const { policy, voters } = this.#router.snapshot();
    return { policy, voters };
  }
}

/** The content of a snapshot. */
export interface FoldState {
  readonly position: number;
  readonly base: number;
  /** Position of the configuration under which the posterior was learned. */
  readonly configuration: number;
  readonly counts: FoldCounts;
  readonly posterior: Posterior | undefined;
  /** Absent from snapshots of version 0.1. */
  readonly method?: Method | undefined;
}

/** Everything besides the configuration that decides how votes are learned. It may change with an upgrade. */
interface Method {
  /** Revision of what all policies have in common: `Router` and the weights of votes. */
  readonly common: number;
  readonly revision: number;
  /** All options of the policy. A configuration has only those that differ from the defaults. */
  readonly options: string;
}

export interface Posterior {
  readonly policy: Snapshot;
  readonly voters: VotersState;
}

export interface FoldCounts {
  /** Votes that were learned. */
  readonly votes: number;
  /** Votes skipped because one of their models is not in the pool. */
  readonly retired: number;
  /** Votes skipped because their embedding is from another encoder. */
  readonly foreign: number;
}

/**
 * SHA-256 of the canonical encoding of everything that choices depend on, equal if and only if two
 * posteriors are equal bit for bit.
 */
export function hashOf(posterior: Posterior | undefined): string {
  const { report: _, ...policy } = posterior?.policy ?? {};
  const content = posterior && { ...posterior, policy };
  return createHash("sha256").update(toBytes(content)).digest("hex");
}

export function readState(bytes: Uint8Array): FoldState {
  return fromBytes(bytes) as FoldState;
}

/** The content of a snapshot, or undefined if it is damaged. Snapshots of version 0.1 have no checksum. */
export function readableState(bytes: Uint8Array): FoldState | undefined {
  try {
    return readState(bytes);
  } catch {
    return undefined;
  }
}

/** True if a snapshot under a configuration comes from a version that learned the same votes in another way. */
export function isOutdated(
  { method }: FoldState,
  configuration: Configured | undefined,
  findPolicy: FindPolicy,
): boolean {
  const own = configuration && methodOf(configuration, findPolicy);
  return !isDeepStrictEqual({ ...method }, { ...own });
}

/** Raised when a change of `Router` makes it learn the same votes in another way. */
const COMMON_REVISION = 1;

function methodOf({ policy, options }: Configured, findPolicy: FindPolicy): Method {
  const kind = findPolicy(policy);
  const all: Options = { ...kind.defaults, ...withoutRemoved(kind, options) };
  return {
    common: COMMON_REVISION,
    revision: kind.revision ?? 0,
    options: JSON.stringify(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Creates the router of a configuration. `settings` affect only how requests are served, not what is learned. */
export function routerOf(
  {
    pool,
    policy,
    options,
    weighVoters,
  }: Pick<Configured, "pool" | "policy" | "options" | "weighVoters">,
  findPolicy: FindPolicy,
  settings: Partial<RouterSettings> = {},
): Router {
  const kind = findPolicy(policy);
  const created = createPolicy(kind, pool, withoutRemoved(kind, options));
  return new Router(created, { ...settings, weighVoters });
}
