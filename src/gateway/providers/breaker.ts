import type { Clock } from "../clock/clock.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { Upstream } from "./upstream/upstream.ts";

export const BREAKER = {
  /** Age up to which outcomes count. */
  windowMs: 30_000,
  /** Number of outcomes below which the breaker stays closed. */
  minimum: 8,
  /** Share of failures at which the breaker opens. */
  errorRate: 0.5,
  /** Time that the breaker stays open; it doubles with every failed probe. */
  openMs: 5000,
  maxOpenMs: 120_000,
};

export type BreakerState = "closed" | "open" | "half-open";

/**
 * Circuit breaker. Closed: calls pass and their outcomes are counted. Open: no call passes, so
 * that clients do not wait for an upstream that fails. Half-open, after some time: one call
 * passes as a probe; an answer closes the breaker, a failure opens it for longer.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #buckets: Bucket[] = [];
  /** Consecutive failed probes; -1 while the breaker is closed. */
  #failedProbes = -1;
  #openUntil = 0;
  #probe: Passage | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): BreakerState {
    if (this.#failedProbes < 0) return "closed";
    return this.#clock.now() < this.#openUntil ? "open" : "half-open";
  }

  /** Share of failures in the window, and the number of outcomes. */
  get failures(): { readonly rate: number; readonly of: number } {
    const { total, failed } = this.#counts();
    return { rate: total === 0 ? 0 : failed / total, of: total };
  }

  /** Admits a call, or returns undefined if no call may pass. */
  enter(): Passage | undefined {
    const { state } = this;
    if (state === "open" || (state === "half-open" && this.#probe)) return undefined;
    const passage = this.#newPassage();
    if (state === "half-open") this.#probe = passage;
    return passage;
  }

  /** Milliseconds until a call may pass again. */
  get rest(): number {
    return Math.max(0, this.#openUntil - this.#clock.now());
  }

  #newPassage(): Passage {
    const isProbe = () => this.#probe === passage;
    const passage: Passage = {
      begun: () => {
        if (isProbe()) this.#close();
      },
      abandoned: () => {
        if (isProbe()) this.#probe = undefined;
      },
      ended: (isFailure) => {
        if (!isProbe()) this.#ended(isFailure);
        else if (isFailure) this.#open(this.#failedProbes + 1);
        else this.#close();
      },
    };
    return passage;
  }

  /** Counts a call that was no probe. */
  #ended(isFailure: boolean): void {
    if (this.#failedProbes >= 0) return; // the call began before the breaker opened
    this.#count(isFailure);
    if (!isFailure) return;
    const { total, failed } = this.#counts();
    const { minimum, errorRate } = BREAKER;
    if (total >= minimum && failed >= errorRate * total) this.#open(0);
  }

  #open(failedProbes: number): void {
    const { openMs, maxOpenMs } = BREAKER;
    this.#failedProbes = failedProbes;
    this.#probe = undefined;
    this.#openUntil = this.#clock.now() + Math.min(maxOpenMs, openMs * 2 ** failedProbes);
    this.#buckets.length = 0;
  }

  #close(): void {
    this.#failedProbes = -1;
    this.#openUntil = 0;
    this.#probe = undefined;
  }

  #count(isFailure: boolean): void {
    const slice = Math.floor(this.#clock.now() / SLICE_MS);
    let bucket = this.#buckets.at(-1);
    if (bucket?.slice !== slice) {
      this.#forget(slice);
      bucket = { slice, total: 0, failed: 0 };
      this.#buckets.push(bucket);
    }
    bucket.total++;
    if (isFailure) bucket.failed++;
  }

  #counts(): { total: number; failed: number } {
    this.#forget(Math.floor(this.#clock.now() / SLICE_MS));
    let total = 0;
    let failed = 0;
    for (const bucket of this.#buckets) {
      total += bucket.total;
      failed += bucket.failed;
    }
    return { total, failed };
  }

  /** Drops the outcomes that have left the window. */
  #forget(slice: number): void {
    while (this.#buckets.length > 0 && this.#buckets[0]!.slice <= slice - SLICES) {
      this.#buckets.shift();
    }
  }
}

interface Bucket {
  readonly slice: number;
  total: number;
  failed: number;
}

/** The window consists of ten slices and moves by one of them. */
const SLICES = 10;
const SLICE_MS = BREAKER.windowMs / SLICES;

/** A call that the breaker has admitted. Its methods report what happens to the call. */
export interface Passage {
  /** The call has begun to answer. */
  begun(): void;
  ended(isFailure: boolean): void;
  /** The call says nothing about the upstream's answers: the client cancelled it, or it only counts tokens. */
  abandoned(): void;
}

/** Adds a breaker to an upstream. Each model has its own, because models fail independently. */
export function guarded(upstream: Upstream, breaker: Breaker): Upstream {
  return {
    name: upstream.name,
    async call(request, signal) {
      const passage = breaker.enter();
      if (!passage) {
        const problem = "has failed often and is not called for now";
        const { rest: retryAfter } = breaker;
        throw new UpstreamError("circuit_open", upstream.name, problem, { retryAfter });
      }
      // An upstream that answers well may have no endpoint that counts tokens.
      const isCount = request.endpoint === "messages/count_tokens";
      try {
        const answer = await upstream.call(request, signal);
        if (!isCount) passage.begun();
        answer.end.then(({ error }) => settle(passage, isCount, error));
        return answer;
      } catch (error) {
        settle(passage, isCount, error);
        throw error;
      }
    },
  };
}

function settle(passage: Passage, isCount: boolean, error: unknown): void {
  const fault = error instanceof UpstreamError ? error.fault : undefined;
  if (fault === "client" || isCount) passage.abandoned();
  else passage.ended(fault === "upstream" || (error !== undefined && fault === undefined));
}
