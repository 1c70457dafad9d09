import type { Clock } from "../clock/clock.ts";
import type { Environment } from "../config/config.ts";
import { authOf } from "./auth.ts";
import { HttpUpstream } from "./http-upstream.ts";
import type { Provider } from "./providers.ts";
import type { Limits } from "./upstream/exchange.ts";
import { type Proxies, proxiesIn } from "./upstream/proxy.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** A connected provider, which all its models share. */
export interface ConnectedUpstream extends Upstream {
  /** Waits for the running requests. */
  close(): Promise<void>;
  models?(signal: AbortSignal): Promise<string[]>;
}

export function connect(
  provider: Provider,
  limits: Partial<Limits>,
  clock: Clock,
  proxies?: Proxies,
): ConnectedUpstream {
  const { name, url, dialects, countTokens, headers, requestsUsage, edits } = provider;
  const auth = authOf(provider.auth, provider);
  return new HttpUpstream(
    {
      name,
      url,
      dialects,
      countTokens,
      headers: { ...auth.headers, ...headers },
      sign: auth.sign,
      limits,
      requestsUsage,
      edits,
      proxies,
    },
    clock,
  );
}

/** Connected upstreams. They are kept when the configuration changes, if it still uses them. */
export class Upstreams {
  readonly #clock: Clock;
  readonly #proxies: Proxies | undefined;
  readonly #open = new Map<string, ConnectedUpstream>();

  constructor(clock: Clock, env: Environment = {}) {
    this.#clock = clock;
    this.#proxies = proxiesIn(env);
  }

  get(provider: Provider, limits: Partial<Limits>): ConnectedUpstream {
    const key = keyOf(provider, limits);
    const found = this.#open.get(key);
    if (found) return found;
    const upstream = connect(provider, limits, this.#clock, this.#proxies);
    this.#open.set(key, upstream);
    return upstream;
  }

  /** Closes all other upstreams after their running requests. */
  retain(wanted: readonly { provider: Provider; limits: Partial<Limits> }[]): void {
    const keys = new Set(wanted.map(({ provider, limits }) => keyOf(provider, limits)));
    for (const [key, upstream] of this.#open) {
      if (keys.has(key)) continue;
      this.#open.delete(key);
      upstream.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    const upstreams = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(upstreams.map((upstream) => upstream.close()));
  }
}

function keyOf({ models: _, ...provider }: Provider, limits: Partial<Limits>): string {
  return JSON.stringify([provider, limits]);
}
