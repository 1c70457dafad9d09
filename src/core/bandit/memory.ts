import { dotAt, norm, normalized } from "../linalg/linalg.ts";
import { type About, alignModels, type Comparison } from "./policy.ts";

/** Past votes as columns, the form in which ratings are fitted. */
export interface Votes {
  readonly size: number;
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** 1 if a won, 0 if b won, 0.5 for a tie. */
  readonly win: Float64Array;
  readonly weight: Float64Array;
  /** Logit of a win of a according to the told scores; ratings explain the rest. */
  readonly offset: Float64Array;
}

export function voteAt(votes: Votes, i: number): Comparison & { readonly offset: number } {
  return {
    a: votes.a[i]!,
    b: votes.b[i]!,
    win: votes.win[i]!,
    weight: votes.weight[i]!,
    offset: votes.offset[i]!,
  };
}

/** The option of policies that have a memory. */
export const MEMORY_ABOUT: About<{ memory: number }> = {
  memory: { meaning: "number of past comparisons that are kept", integer: true, min: 2 },
};

/** The state of a memory in a snapshot. */
export interface MemoryState extends Votes {
  readonly x: Float64Array;
}

/**
 * The past comparisons with their queries, for policies that search them at every
 * decision. Queries are normalised and stored in one flat array, so that the cosines
 * with all of them take one pass over the array: a few milliseconds for 1e4 queries of
 * 384 numbers. When `capacity` is reached, the older half is dropped, which costs one
 * copy every capacity / 2 votes.
 */
export class Memory implements Votes {
  readonly dimension: number;
  readonly capacity: number;
  size = 0;
  x: Float64Array;
  a = new Int32Array(START);
  b = new Int32Array(START);
  win = new Float64Array(START);
  weight = new Float64Array(START);
  offset = new Float64Array(START);

  constructor(dimension: number, capacity: number) {
    this.dimension = dimension;
    this.capacity = Math.max(2, capacity);
    this.x = new Float64Array(START * dimension);
  }

  add(x: Float64Array, comparison: Comparison, offset: number): void {
    this.#push(normalized(x), comparison, offset);
  }

  #push(x: Float64Array, { a, b, win, weight }: Comparison, offset: number): void {
    if (this.size === this.capacity) this.#drop(this.capacity >> 1);
    if (this.size === this.a.length) this.#grow();
    const i = this.size++;
    this.x.set(x, i * this.dimension);
    this.a[i] = a;
    this.b[i] = b;
    this.win[i] = win;
    this.weight[i] = weight;
    this.offset[i] = offset;
  }

  /** Cosines of x with all queries, oldest first. */
  similarities(x: Float64Array): Float64Array {
    const d = this.dimension;
    const out = new Float64Array(this.size);
    const length = norm(x) || 1;
    for (let i = 0; i < out.length; i++) out[i] = dotAt(this.x, i * d, x, 0, d) / length;
    return out;
  }

  /** The n comparisons whose queries are nearest to x, in the order of their votes. */
  nearest(x: Float64Array, n: number): Votes {
    if (this.size <= n) return this;
    const chosen = largest(this.similarities(x), n);
    const pick = <T extends Column>(column: T) =>
      column.slice(0, n).map((_, i) => column[chosen[i]!]!) as T;
    return { size: n, ...mapColumns(this, pick) };
  }

  snapshot(): MemoryState {
    const { size, dimension } = this;
    const x = this.x.slice(0, size * dimension);
    return { size, x, ...mapColumns(this, (column) => column.slice(0, size)) };
  }

  /** Restores the comparisons between models that are still in the pool. */
  restore(state: MemoryState, from: readonly string[], to: readonly string[]): void {
    const index = alignModels(to, from);
    const d = this.dimension;
    this.size = 0;
    for (let i = 0; i < state.size; i++) {
      const vote = voteAt(state, i);
      const a = index[vote.a]!;
      const b = index[vote.b]!;
      if (a < 0 || b < 0) continue;
      this.#push(state.x.subarray(i * d, (i + 1) * d), { ...vote, a, b }, vote.offset);
    }
  }

  #grow(): void {
    this.x = longer(this.x);
    Object.assign(this, mapColumns(this, longer));
  }

  #drop(n: number): void {
    this.x.copyWithin(0, n * this.dimension);
    for (const column of [this.a, this.b, this.win, this.weight, this.offset]) {
      column.copyWithin(0, n);
    }
    this.size -= n;
  }
}

const START = 64;

type Column = Int32Array | Float64Array;

/** Returns the columns of the votes, each changed by `change`. */
function mapColumns(
  { a, b, win, weight, offset }: Votes,
  change: <T extends Column>(column: T) => Column,
): Omit<Votes, "size"> {
  const columns = Object.entries({ a, b, win, weight, offset });
  return Object.fromEntries(columns.map(([name, column]) => [name, change(column)])) as Omit<
    Votes,
    "size"
  >;
}

function longer<T extends Column>(column: T): T {
  const out = new (column.constructor as new (length: number) => T)(column.length * 2);
  out.set(column);
  return out;
}

/**
 * Returns the indices of the n largest values, in ascending order. The sorted list of
 * the best so far is short and rarely changes: about n log(size / n) insertions if the
 * values are in random order.
 */
export function largest(values: Float64Array, n: number): number[] {
  const best: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (best.length === n && !(values[i]! > values[best[n - 1]!]!)) continue;
    if (best.length === n) best.pop();
    let at = best.length;
    while (at > 0 && values[best[at - 1]!]! < values[i]!) at--;
    best.splice(at, 0, i);
  }
  return best.sort((p, q) => p - q);
}
