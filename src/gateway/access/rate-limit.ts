/**
 * A bucket of tokens for each client: `burst` at most, refilled steadily. Only
 * clients that are short of tokens are remembered, so memory follows the load.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** Ten seconds' worth may come at once; of a small limit, all of its minute. */
  constructor(perMinute: number, burst = Math.max(1, Math.min(perMinute, 10), perMinute / 6)) {
    this.#perSecond = perMinute / 60;
    this.#burst = burst;
  }

  /** Takes one token; else the seconds until there is one. `now` in milliseconds. */
  take(client: string, now: number): number {
    const bucket = this.#buckets.get(client) ?? { tokens: this.#burst, at: now };
    const tokens = this.#filled(bucket, now);
    if (tokens < 1) return (1 - tokens) / this.#perSecond;
    this.#buckets.delete(client);
    this.#buckets.set(client, { tokens: tokens - 1, at: now });
    this.#forgetFull(now);
    return 0;
  }

  /** The one that waited longest is the first to be full again. */
  #forgetFull(now: number): void {
    for (const [client, bucket] of this.#buckets) {
      if (this.#filled(bucket, now) < this.#burst) break;
      this.#buckets.delete(client);
    }
  }

  #filled({ tokens, at }: { tokens: number; at: number }, now: number): number {
    const added = (Math.max(0, now - at) / 1000) * this.#perSecond;
    return Math.min(this.#burst, tokens + added);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
