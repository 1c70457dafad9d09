import { isDeepStrictEqual } from "node:util";
import type { Configured, Control, Logged, Voted, VoterWeighed } from "../store/events.ts";

/**
 * Decides which votes count after the log up to position n, and at which position each of them
 * counts. The posterior is the fold of these votes in this order, regardless of restarts, which is
 * why a replay and a learner that never stopped agree bit for bit.
 *
 * - A vote counts at its own position.
 * - A vote logged during a freeze counts at the position of the thaw, or never.
 * - A vote does not count if its own position, or the position at which it would count, was rolled
 *   back. A rollback at r to p makes the log read "up to p, then on from r". Reading backwards from
 *   n, the valid spans are (r, n], (r', p], (r'', p'], ...
 * - A vote of an excluded voter, whose weight is 0, does not count. The last weight of a voter holds for
 *   all votes of the voter, so that a fold under other weights is invalid. A rollback does not change weights.
 * - The votes of a forgotten voter are no longer in the log; what was learned from them is invalid.
 */
export class VoteSchedule {
  /** The last position of the log that is considered. */
  readonly until: number;
  /** The configuration that learning starts with. Votes logged before it are learned under it too. */
  readonly base: Logged<Configured> | undefined;
  readonly #spans: readonly Span[];
  readonly #freezes: readonly Freeze[];
  /** Last position at which a voter was forgotten, or 0. */
  readonly #forgottenAt: number;
  readonly #weighings: readonly Logged<VoterWeighed>[];
  readonly #weights: ReadonlyMap<string, number>;

  constructor(controls: readonly Logged<Control>[], until: number) {
    const past = controls.filter(({ position }) => position <= until);
    this.until = until;
    this.base = baseOf(past);
    this.#spans = validSpans(past, until);
    this.#freezes = freezesOf(past);
    this.#forgottenAt = past.findLast(({ kind }) => kind === "voter_forgotten")?.position ?? 0;
    this.#weighings = past.filter((event) => event.kind === "voter_weighed");
    this.#weights = weightsOf(this.#weighings);
  }

  /** The weight of a voter that an operator has set, from 0 to 1; 1 if none was set. */
  weightOf(voter: string): number {
    return this.#weights.get(voter) ?? 1;
  }

  /** The position at which a vote counts, or undefined if it does not count. */
  countsAt({ position, voter }: Pick<Logged<Voted>, "position" | "voter">): number | undefined {
    if (this.weightOf(voter) === 0) return undefined;
    const freeze = this.#freezes.find(({ from, to }) => from < position && position < to);
    if (freeze && !freeze.learn) return undefined;
    const effective = freeze ? freeze.to : position;
    return this.#isValid(position) && this.#isValid(effective) ? effective : undefined;
  }

  /** True if the votes folded up to a position, with the same base, are a prefix of this schedule. */
  hasPrefix(position: number): boolean {
    if (position > this.until || position < this.#forgottenAt) return false;
    return position === 0 || (this.#isValid(position) && this.#hasWeightsOf(position));
  }

  /** True if a fold can continue with this schedule instead of starting again. */
  continues(fold: { readonly position: number; readonly base: number }): boolean {
    return fold.base === (this.base?.position ?? 0) && this.hasPrefix(fold.position);
  }

  /** True if learning is frozen at the end of the schedule. */
  get isFrozen(): boolean {
    return this.#freezes.at(-1)?.to === Infinity;
  }

  /**
   * Position of the freeze during which a position was logged, or undefined if learning was not frozen.
   * Votes since the freeze count only at a later thaw, if at all.
   */
  freezeAt(position: number): number | undefined {
    return this.#freezes.find(({ from, to }) => from < position && position < to)?.from;
  }

  /** Position of the freeze that the thaw at a position ends, or undefined if it ends none. */
  freezeEndedBy(thaw: number): number | undefined {
    return this.#freezes.find(({ to }) => to === thaw)?.from;
  }

  /** True if the voters had the same weights at a position as at the end. */
  #hasWeightsOf(position: number): boolean {
    if ((this.#weighings.at(-1)?.position ?? 0) <= position) return true;
    const earlier = this.#weighings.filter((event) => event.position <= position);
    return isDeepStrictEqual(weightsOf(earlier), this.#weights);
  }

  #isValid(position: number): boolean {
    return this.#spans.some(({ from, to }) => from < position && position <= to);
  }
}

/** Positions after `from` up to and including `to`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Freeze extends Span {
  readonly learn: boolean;
}

/** Spans of the log that no rollback has undone, last first. */
function validSpans(past: readonly Logged<Control>[], until: number): Span[] {
  const rollbacks = past.filter((event) => event.kind === "rolled_back");
  const spans: Span[] = [];
  let to = until;
  for (;;) {
    const last = rollbacks.findLast(({ position }) => position <= to);
    spans.push({ from: last?.position ?? 0, to });
    if (!last) return spans;
    // A rollback goes back at least one position, even if the event names a later one.
    to = Math.min(last.to, last.position - 1);
  }
}

function freezesOf(past: readonly Logged<Control>[]): Freeze[] {
  const freezes: Freeze[] = [];
  let from: number | undefined;
  for (const event of past) {
    if (event.kind === "frozen") from ??= event.position;
    if (event.kind !== "thawed" || from === undefined) continue;
    freezes.push({ from, to: event.position, learn: event.learn });
    from = undefined;
  }
  // Votes of a freeze that has not ended do not count yet.
  if (from !== undefined) freezes.push({ from, to: Infinity, learn: false });
  return freezes;
}

/** Weights by voter. Voters with weight 1 are absent. */
function weightsOf(weighings: readonly VoterWeighed[]): ReadonlyMap<string, number> {
  const weights = new Map(weighings.map(({ voter, weight }) => [voter, weight]));
  return new Map([...weights].filter(([, weight]) => weight !== 1));
}

/** The last configuration after which learning started again, or the first one. */
function baseOf(past: readonly Logged<Control>[]): Logged<Configured> | undefined {
  let base: Logged<Configured> | undefined;
  let last: Logged<Configured> | undefined;
  for (const event of past) {
    if (event.kind !== "configured") continue;
    if (!last || restartsLearning(last, event)) base = event;
    last = event;
  }
  return base;
}

export function lastConfiguration(
  controls: readonly Logged<Control>[],
  until: number,
): Logged<Configured> | undefined {
  return controls
    .filter((event) => event.kind === "configured")
    .findLast(({ position }) => position <= until);
}

/**
 * True if a change of configuration makes the posterior unusable, so that all votes are folded
 * again. After a change of encoder, votes with embeddings of the old encoder are skipped.
 */
export function restartsLearning(before: Configured, after: Configured): boolean {
  const essence = ({ encoder, policy, options, weighVoters, seed, pool }: Configured) => ({
    encoder,
    policy,
    options,
    weighVoters,
    seed,
    categories: pool.categories,
    centroids: pool.centroids,
    told: pool.told !== undefined,
    toldErrors: pool.toldErrors !== undefined,
  });
  return !isDeepStrictEqual(essence(before), essence(after));
}
