import type { Clock } from "../clock/clock.ts";
import { connect, type Host, type Provider } from "./providers.ts";
import type { Limits } from "./upstream/exchange.ts";

/** Connected hosts. They are kept when the configuration changes, if it still uses them. */
export class Hosts {
  readonly #clock: Clock;
  readonly #open = new Map<string, Host>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(provider: Provider, limits: Partial<Limits>): Host {
    const key = keyOf(provider, limits);
    const found = this.#open.get(key);
    if (found) return found;
    const host = connect(provider, limits, this.#clock);
    this.#open.set(key, host);
    return host;
  }

  /** Closes all other hosts after their running requests. */
  retain(wanted: readonly { provider: Provider; limits: Partial<Limits> }[]): void {
    const keys = new Set(wanted.map(({ provider, limits }) => keyOf(provider, limits)));
    for (const [key, host] of this.#open) {
      if (keys.has(key)) continue;
      this.#open.delete(key);
      host.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    const hosts = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(hosts.map((host) => host.close()));
  }
}

function keyOf({ models: _, ...provider }: Provider, limits: Partial<Limits>): string {
  return JSON.stringify([provider, limits]);
}
