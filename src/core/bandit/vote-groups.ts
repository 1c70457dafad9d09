import { alignModels, type Pool } from "./policy.ts";

/**
 * Sums of votes, from which the reported posterior is computed (report.ts). Duels are grouped by
 * the two models in the order shown and by the main category of the query, ratings by the model
 * and the category. The expected result of a vote is linear in the membership of its query, so the
 * votes of a group count as votes on one query with their mean membership. The size does not grow
 * with the number of votes.
 */
export class VoteGroups {
  /** The models of the pool. */
  readonly #pool: readonly string[];
  /** The models of the pool, then former ones whose duels still say something about the others. */
  #models: readonly string[];
  readonly #M: number;
  readonly #confusion: Pool["confusion"];
  readonly #traits: number;
  readonly #bins: number;
  /** Sums of the votes in each group. The key is made of the two models and the category; see `#key`. */
  readonly #groups = new Map<number, Float64Array>();
  #mix: Float64Array;
  #duels = 0;
  /** False if the pool is too large, or after a snapshot of an older version: then only `mix` is kept. */
  #isComplete: boolean;

  /** `traits` is the number of traits that each vote has besides its result. Votes are grouped by the first one too. */
  constructor(
    { models, categories, confusion }: Pick<Pool, "models" | "categories" | "confusion">,
    traits = 0,
  ) {
    this.#traits = traits;
    this.#bins = traits > 0 ? BINS : 1;
    this.#pool = models;
    this.#models = models;
    this.#M = categories.length;
    this.#confusion = confusion;
    this.#isComplete = models.length * this.#M <= MOST_CELLS;
    this.#mix = new Float64Array(this.#M).fill(1 / this.#M);
  }

  /**
   * Shares of the categories among the last queries that were voted on; equal before the first vote.
   * They follow from the nearest categories if the confusion was measured, and from the memberships,
   * which favour central categories, otherwise.
   */
  get mix(): Float64Array {
    return this.#mix.slice();
  }

  /** Number of models that have left the pool. Their indices follow those of the pool. */
  get former(): number {
    return this.#models.length - this.#pool.length;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Adds a duel in which a was shown first. `win` is 1 if a won, 0 if b won and 1/2 for a tie. */
  addDuel(
    a: number,
    b: number,
    w: Float64Array,
    win: number,
    weight: number,
    traits: readonly number[] = [],
  ): void {
    const result = win === 0.5 ? TIES : win === 1 ? WINS : LOSSES;
    if (this.#isComplete) {
      const group = this.#group(a, b, w, weight, binOf(traits[0]));
      group[result]! += weight;
      for (let i = 0; i < this.#traits; i++) group[SUMS + this.#M + i]! += weight * traits[i]!;
    }
    this.noteQuery(w);
  }

  /** Adds a query that was voted on to the mean membership. */
  noteQuery(w: Float64Array): void {
    this.#duels++;
    const share = 1 / Math.min(this.#duels, MIX_DUELS);
    const own = this.#confusion?.[mainOf(w)] ?? w;
    for (let m = 0; m < this.#M; m++) this.#mix[m]! += share * (own[m]! - this.#mix[m]!);
  }

  /**
   * Adds a ranking of n models, best first, as all its pairs, which together count as n - 1 duels.
   * Each pair counts half in either order, because the answers were shown together.
   */
  addRanking(order: readonly number[], w: Float64Array, weight: number): void {
    if (!this.#isComplete) return;
    const share = weight / order.length;
    for (const [i, a] of order.entries()) {
      for (const b of order.slice(i + 1)) {
        this.#group(a, b, w, share)[WINS]! += share;
        this.#group(b, a, w, share)[LOSSES]! += share;
      }
    }
  }

  /** Adds a rating, where `like` is 1 for the best and 0 for the worst. */
  addRating(model: number, w: Float64Array, like: number, weight: number): void {
    if (!this.#isComplete) return;
    const group = this.#group(model, model, w, weight);
    group[WINS]! += weight * like;
    group[LOSSES]! += weight * (1 - like);
  }

  /** Multiplies all sums by a factor, so that old votes count less. */
  fade(factor: number): void {
    for (const group of this.#groups.values()) {
      for (let i = 0; i < group.length; i++) group[i]! *= factor;
    }
  }

  /** The groups with their mean memberships. */
  all(): VoteGroup[] {
    const K = this.#models.length;
    return Array.from(this.#groups, ([key, group]) => {
      const cell = Math.floor(key / this.#bins);
      const pair = Math.floor(cell / this.#M);
      const category = cell % this.#M;
      const [wins, losses, ties] = [group[WINS]!, group[LOSSES]!, group[TIES]!];
      const total = wins + losses + ties;
      const means = group.slice(SUMS).map((sum) => sum / total);
      const [w, traits] = [means.slice(0, this.#M), means.slice(this.#M)];
      return { a: Math.floor(pair / K), b: pair % K, category, w, wins, losses, ties, traits };
    }).filter(({ wins, losses, ties }) => wins + losses + ties > 0);
  }

  snapshot(): VoteGroupsState {
    return {
      isComplete: this.#isComplete,
      former: this.#models.slice(this.#pool.length),
      duels: this.#duels,
      mix: this.#mix.slice(),
      keys: Float64Array.from(this.#groups.keys()),
      sums: [...this.#groups.values()].map((group) => group.slice()),
    };
  }

  /**
   * Restores a snapshot of a pool with these models. Models that have left since are kept as
   * former ones. Snapshots of older versions have no state.
   */
  restore(state: VoteGroupsState | undefined, pool: readonly string[]): void {
    this.#groups.clear();
    this.#models = this.#pool;
    this.#isComplete = false;
    if (!state) return;
    const { isComplete, former, duels, mix, keys, sums } = state;
    const saved = [...pool, ...former];
    this.#duels = duels;
    this.#mix = mix.slice();
    this.#models = [...this.#pool, ...saved.filter((name) => !this.#pool.includes(name))];
    this.#isComplete = isComplete && this.#models.length * this.#M <= MOST_CELLS;
    if (!this.#isComplete) return;
    const place = alignModels(this.#models, saved);
    keys.forEach((key, i) => {
      const cell = Math.floor(key / this.#bins);
      const pair = Math.floor(cell / this.#M);
      const [a, b] = [place[Math.floor(pair / saved.length)]!, place[pair % saved.length]!];
      this.#groups.set(
        this.#key(a, b, cell % this.#M, key % this.#bins),
        sums[i]!.slice(0, SUMS + this.#M + this.#traits),
      );
    });
  }

  #key(a: number, b: number, category: number, bin: number): number {
    return ((a * this.#models.length + b) * this.#M + category) * this.#bins + bin;
  }

  /** The group of a vote, with its membership added. */
  #group(a: number, b: number, w: Float64Array, weight: number, bin = 0): Float64Array {
    const M = this.#M;
    const key = this.#key(a, b, mainOf(w), this.#bins > 1 ? bin : 0);
    let group = this.#groups.get(key);
    if (!group) {
      group = new Float64Array(SUMS + M + this.#traits);
      this.#groups.set(key, group);
    }
    for (let m = 0; m < M; m++) group[SUMS + m]! += weight * w[m]!;
    return group;
  }
}

/** The main category of a membership. */
function mainOf(w: Float64Array): number {
  let main = 0;
  for (let m = 1; m < w.length; m++) if (w[m]! > w[main]!) main = m;
  return main;
}

export interface VoteGroup {
  /** The models of a duel, a shown first, or twice the model of a rating. */
  readonly a: number;
  readonly b: number;
  /** Main category of the queries. */
  readonly category: number;
  /** Mean membership. */
  readonly w: Float64Array;
  /** Weighted number of votes for a, for b and for neither. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** Mean traits. */
  readonly traits: Float64Array;
}

/** The state in snapshots, whose field names must not change. */
export interface VoteGroupsState {
  readonly isComplete: boolean;
  readonly former: readonly string[];
  readonly duels: number;
  readonly mix: Float64Array;
  readonly keys: Float64Array;
  readonly sums: readonly Float64Array[];
}

/** Group of the first trait, from clearly negative over about 0 to clearly positive. */
function binOf(trait = 0): number {
  return BIN_EDGES.filter((edge) => trait > edge).length;
}

const BINS = 5;
const BIN_EDGES = [-0.9, -0.3, 0.3, 0.9];

/** Indices in a group. The sums of the memberships and of the traits follow. */
const WINS = 0;
const LOSSES = 1;
const TIES = 2;
const SUMS = 3;

/** Largest number of models times categories. A fit takes the third power of it: about 50 ms at 256. */
const MOST_CELLS = 256;

/** Number of duels that the mean membership covers. */
const MIX_DUELS = 512;
