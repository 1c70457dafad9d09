import type { Task } from "./sweep.ts";

/** How fast each policy is, from what is finished and what is under way, and so how long the rest takes. */
export class Pace {
  readonly #rounds: number;
  readonly #threads: number;
  /** Finished tasks of each policy: how many, and their milliseconds. */
  readonly #count: number[];
  readonly #spent: number[];
  readonly #running = new Map<number, { readonly policy: number; readonly since: number }>();

  constructor(policies: number, rounds: number, threads: number) {
    this.#rounds = rounds;
    this.#threads = threads;
    this.#count = new Array<number>(policies).fill(0);
    this.#spent = new Array<number>(policies).fill(0);
  }

  begin(slot: number, policy: number): void {
    this.#running.set(slot, { policy, since: performance.now() });
  }

  end(slot: number): void {
    const { policy, since } = this.#running.get(slot)!;
    this.#running.delete(slot);
    this.#count[policy]!++;
    this.#spent[policy]! += performance.now() - since;
  }

  /** Milliseconds a task of the policy takes; infinite where none is finished, so that it is tried soon. */
  of(policy: number): number {
    return this.#count[policy] ? this.#spent[policy]! / this.#count[policy]! : Infinity;
  }

  /** Milliseconds until all is done; `rounds[slot]` says how far the running tasks are. */
  left(waiting: readonly Task[], rounds: Int32Array): number | undefined {
    const now = performance.now();
    const begun = [...this.#running].map(([slot, { policy, since }]) => {
      const share = Math.min(1, Atomics.load(rounds, slot) / this.#rounds);
      const spent = now - since;
      return { policy, spent, share, whole: share > 0 ? spent / share : Number.NaN };
    });
    const seen = [...this.#count.keys()].map((policy) => {
      if (this.#count[policy]) return this.of(policy);
      return begun.find((task) => task.policy === policy && task.share > 0)?.whole ?? Number.NaN;
    });
    const known = seen.filter((whole) => !Number.isNaN(whole));
    if (known.length === 0) return undefined;
    const typical = known.reduce((sum, whole) => sum + whole, 0) / known.length;
    const whole = (policy: number) => (Number.isNaN(seen[policy]!) ? typical : seen[policy]!);
    const rests = begun.map(({ policy, share }) => (1 - share) * whole(policy));
    const sum = [...rests, ...waiting.map(({ policy }) => whole(policy))].reduce(
      (a, b) => a + b,
      0,
    );
    return Math.max(sum / this.#threads, ...rests);
  }
}
