import { isDeepStrictEqual } from "node:util";
import type { Configured, Control, Logged } from "../store/events.ts";

/**
 * Which votes count after position n, and when. The posterior is the fold of
 * these, in this order, whatever has happened on the way: that is what makes a
 * replay, a restart and a learner that never stopped agree bit for bit.
 *
 * - A vote counts at its own position;
 * - if it came while frozen, at the position of the thaw, or never;
 * - not if its position, or the one it would count at, was rolled back. Rolling
 *   back at r to p makes the log read "up to p, then on from r", so reading from
 *   its end the spans left are (r, n], (r', p], (r'', p'] ..;
 * - not if its voter was forgotten later.
 */
export class Script {
  /** The last position that it is about. */
  readonly until: number;
  /** The configuration that learning begins with: all earlier votes are learnt under it. */
  readonly base: Logged<Configured> | undefined;
  readonly #spans: readonly Span[];
  readonly #freezes: readonly Freeze[];
  readonly #forgotten: ReadonlyMap<string, number>;

  constructor(controls: readonly Logged<Control>[], until: number) {
    const past = controls.filter(({ position }) => position <= until);
    this.until = until;
    this.base = baseOf(past);
    this.#spans = spansOf(past, until);
    this.#freezes = freezesOf(past);
    const forgotten = past.filter((event) => event.kind === "voter_forgotten");
    this.#forgotten = new Map(forgotten.map(({ voter, position }) => [voter, position]));
  }

  /** The position at which a vote counts; undefined where it does not. */
  place({ position, voter }: { readonly position: number; readonly voter: string }) {
    if ((this.#forgotten.get(voter) ?? 0) > position) return undefined;
    const freeze = this.#freezes.find(({ from, to }) => from < position && position < to);
    if (freeze && !freeze.learn) return undefined;
    const place = freeze ? freeze.to : position;
    return this.#stands(position) && this.#stands(place) ? place : undefined;
  }

  /** Whether what was folded up to a position is the beginning of this script, its base being the same. */
  holds(position: number): boolean {
    if (position > this.until) return false;
    if ([...this.#forgotten.values()].some((at) => at > position)) return false;
    return position === 0 || this.#stands(position);
  }

  extends({ position, base }: { readonly position: number; readonly base: number }): boolean {
    return base === (this.base?.position ?? 0) && this.holds(position);
  }

  /** Whether votes teach nothing at its end. */
  get frozen(): boolean {
    return this.#freezes.at(-1)?.to === Infinity;
  }

  /** Whether there are votes before it that a thaw is still to bring. */
  isFrozenAt(position: number): boolean {
    return this.#freezes.some(({ from, to }) => from < position && position < to);
  }

  /** Where the freeze that a thaw ends began; undefined where that thaw ends none. */
  frozenSince(thaw: number): number | undefined {
    return this.#freezes.find(({ to }) => to === thaw)?.from;
  }

  #stands(position: number): boolean {
    return this.#spans.some(({ from, to }) => from < position && position <= to);
  }
}

/** Positions after `from`, up to `to`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Freeze extends Span {
  readonly learn: boolean;
}

function spansOf(past: readonly Logged<Control>[], until: number): Span[] {
  const rollbacks = past.filter((event) => event.kind === "rolled_back");
  const spans: Span[] = [];
  let to = until;
  for (;;) {
    const last = rollbacks.findLast(({ position }) => position <= to);
    spans.push({ from: last?.position ?? 0, to });
    if (!last) return spans;
    // Never forward, whatever the event says.
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
  // Not over yet: nothing counts until it is.
  if (from !== undefined) freezes.push({ from, to: Infinity, learn: false });
  return freezes;
}

function baseOf(past: readonly Logged<Control>[]): Logged<Configured> | undefined {
  let base: Logged<Configured> | undefined;
  let last: Logged<Configured> | undefined;
  for (const event of past) {
    if (event.kind !== "configured") continue;
    if (!last || learnsAnew(last, event)) base = event;
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
 * Whether a change of configuration leaves nothing of what was learnt: then all
 * votes are folded again. Another encoder makes another x, so votes with the old
 * one are passed over.
 */
export function learnsAnew(before: Configured, after: Configured): boolean {
  const essence = ({ encoder, policy, options, weighVoters, seed, pool }: Configured) => ({
    encoder,
    policy,
    options,
    weighVoters,
    seed,
    categories: pool.categories,
    centroids: pool.centroids,
    told: pool.told !== undefined,
  });
  return !isDeepStrictEqual(essence(before), essence(after));
}
