/**
 * Token buckets, one per client, each refilled at a steady rate up to `burst` tokens. Full
 * buckets are not stored, so memory depends on the number of active clients.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** By default the burst is a sixth of the rate, but at least 10, or the whole rate if it is smaller. */
  constructor(perMinute: number, burst = Math.max(1, Math.min(perMinute, 10), perMinute / 6)) {
    this.#perSecond = perMinute / 60;
    this.#burst = burst;
  }

  /** Takes a token and returns 0, or returns the seconds until there is one. `now` is in milliseconds. */
  take(client: string, now: number): number {
    const bucket = this.#buckets.get(client) ?? { tokens: this.#burst, at: now };
    const tokens = this.#filled(bucket, now);
    if (tokens < 1) return (1 - tokens) / this.#perSecond;
    this.#buckets.delete(client);
    this.#buckets.set(client, { tokens: tokens - 1, at: now });
    this.#removeFull(now);
    return 0;
  }

  /** Removes full buckets. The bucket that was used least recently is the first to be full. */
  #removeFull(now: number): void {
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
