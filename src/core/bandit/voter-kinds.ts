import type { BlockPosterior } from "./block-posterior.ts";
import { safeLog } from "./btl.ts";
import { KindBeliefs, leastScaleVariance } from "./kind-beliefs.ts";
import { type KindVote, kindObservation, traitsOf } from "./kind-observation.ts";
import { withTies } from "./observation.ts";
import type { Origin, Pool } from "./policy.ts";
import type { QueryContext } from "./query-context.ts";
import { VoteGroups, type VoteGroupsState } from "./vote-groups.ts";

/** A kind of voters other than people, with its votes so far. */
export interface VoterKind {
  readonly name: string;
  /** Duels that it voted on, and how many of them were ties. */
  duels: number;
  ties: number;
  ratings: number;
  /** Sums of its votes, for reports. */
  readonly groups: VoteGroups;
}

/** The state in snapshots, whose field names must not change. */
export interface VoterKindState {
  readonly name: string;
  readonly duels: number;
  readonly ties: number;
  readonly ratings: number;
}

/** A vote that is not a person's. */
interface KindFeedback {
  readonly context: QueryContext;
  /** The model that was rated, or the one shown first. */
  readonly a: number;
  readonly origin: Origin;
  /** Number of people's votes so far. */
  readonly people: number;
}

interface KindDuel extends KindFeedback {
  readonly b: number;
  /** 1 if a won, 0 if b won, 1/2 for a tie. */
  readonly win: number;
  readonly weight: number;
}

interface KindRating extends KindFeedback {
  /** 1 for the best rating, 0 for the worst. */
  readonly like: number;
  readonly eta: number;
}

/**
 * The kinds of voters other than people that have voted so far, in the order of their first votes.
 * It teaches the posteriors by their votes. kind-beliefs.ts has the model.
 */
export class VoterKinds {
  readonly #pool: Pool;
  readonly #posteriors: readonly BlockPosterior[];
  readonly #options: { readonly ties: number; readonly robust: number };
  #kinds: VoterKind[] = [];

  constructor(
    pool: Pool,
    posteriors: readonly BlockPosterior[],
    options: { readonly ties: number; readonly robust: number },
  ) {
    this.#pool = pool;
    this.#posteriors = posteriors;
    this.#options = options;
  }

  get all(): readonly VoterKind[] {
    return this.#kinds;
  }

  /** Number of duels that they have voted on. */
  get duels(): number {
    return this.#kinds.reduce((sum, { duels }) => sum + duels, 0);
  }

  learnDuel({ context, a, b, win, weight, origin, people }: KindDuel): void {
    const { ties, robust } = this.#options;
    const tie = win === 0.5;
    if (tie && ties === 0) return;
    const vote = this.#voteOf(origin, people);
    const kind = this.#kinds[vote.index]!;
    kind.groups.addDuel(a, b, context.w, win, weight, vote.traits);
    const r = decidedShare(kind.duels, kind.ties);
    const eta = ((tie ? ties : 1) * weight) / r;
    for (const posterior of this.#posteriors) {
      const duel = kindObservation(posterior, context, vote, a, b);
      const p = posterior.probability(duel);
      if (!tie) posterior.evidence += weight * safeLog(win === 1 ? p : 1 - p);
      posterior.observe(withTies(duel, r), win, eta, robust);
    }
    kind.duels++;
    if (tie) kind.ties++;
  }

  learnRating({ context, a, like, eta, origin, people }: KindRating): void {
    if (eta === 0) return;
    const vote = this.#voteOf(origin, people);
    const kind = this.#kinds[vote.index]!;
    kind.groups.addRating(a, context.w, like, eta);
    kind.ratings++;
    for (const posterior of this.#posteriors) {
      const rating = kindObservation(posterior, context, vote, a);
      posterior.observe(rating, like, eta, this.#options.robust);
    }
  }

  /** Adds all kinds to a posterior that has none. */
  addTo(posterior: BlockPosterior): void {
    for (const { name } of this.#kinds) this.#add(posterior, name);
  }

  /** Lets old votes count less in reports. */
  fade(factor: number): void {
    for (const { groups } of this.#kinds) groups.fade(factor);
  }

  snapshot(): VoterKindState[] {
    return this.#kinds.map(({ groups: _, ...state }) => state);
  }

  groupsSnapshot(): VoteGroupsState[] {
    return this.#kinds.map(({ groups }) => groups.snapshot());
  }

  /** Restores a snapshot of a pool with these models. */
  restore(
    states: readonly VoterKindState[] = [],
    groups: readonly VoteGroupsState[] = [],
    models: readonly string[] = [],
  ): void {
    this.#kinds = states.map((state, i) => {
      const kind = this.#create(state);
      kind.groups.restore(groups[i], models);
      return kind;
    });
  }

  #voteOf(origin: Origin, people: number): KindVote {
    const { index, name } = this.#open(origin.kind);
    return { index, traits: traitsOf(origin), leastVariance: leastScaleVariance(name, people) };
  }

  /** Finds a kind, or adds it to all posteriors. Kinds beyond the largest number of kinds are one kind. */
  #open(given: string): { readonly index: number; readonly name: string } {
    const find = (wanted: string) => this.#kinds.findIndex(({ name }) => name === wanted);
    const isKnown = find(given) >= 0 || this.#kinds.length < MOST_KINDS - 1;
    const name = isKnown ? given : OTHERS;
    if (find(name) < 0) {
      this.#kinds.push(this.#create({ name, duels: 0, ties: 0, ratings: 0 }));
      for (const posterior of this.#posteriors) this.#add(posterior, name);
    }
    return { index: find(name), name };
  }

  #add(posterior: BlockPosterior, kind: string): void {
    const size = [this.#pool.models.length, this.#pool.categories.length] as const;
    posterior.kinds = KindBeliefs.withKind(posterior.kinds, kind, posterior.hypothesis, size);
  }

  #create(state: VoterKindState): VoterKind {
    return { ...state, groups: new VoteGroups(this.#pool, TRAITS) };
  }
}

/** r: the share of votes that have a winner. */
export function decidedShare(votes: number, ties: number): number {
  return Math.max(MIN_DECIDED, 1 - ties / (votes + PRIOR_DECIDED));
}

/** Decided votes that are assumed before the first vote, and the smallest share of decided votes. */
const PRIOR_DECIDED = 4;
const MIN_DECIDED = 0.1;
/** Length and own family. */
const TRAITS = 2;
const MOST_KINDS = 16;
const OTHERS = "others";
