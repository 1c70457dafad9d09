import type { Clock } from "../clock/clock.ts";
import type { Environment } from "../config/config.ts";
import { authOf } from "./auth.ts";
import { HttpUpstream } from "./http-upstream.ts";
import type { Provider } from "./providers.ts";
import type { Limits } from "./upstream/exchange.ts";
import { type Proxies, proxiesIn } from "./upstream/proxy.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** A connected provider, which all its models share. */
export interface Host extends Upstream {
  /** Waits for the running requests. */
  close(): Promise<void>;
  models?(signal: AbortSignal): Promise<string[]>;
}

export function connect(
  provider: Provider,
  limits: Partial<Limits>,
  clock: Clock,
  proxies?: Proxies,
): Host {
  const { name, url, dialects, headers, requestsUsage, edits } = provider;
  const auth = authOf(provider.auth, provider);
  return new HttpUpstream(
    {
      name,
      url,
      dialects,
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

/** Connected hosts. They are kept when the configuration changes, if it still uses them. */
export class Hosts {
  readonly #clock: Clock;
  readonly #proxies: Proxies | undefined;
  readonly #open = new Map<string, Host>();

  constructor(clock: Clock, env: Environment = {}) {
    this.#clock = clock;
    this.#proxies = proxiesIn(env);
  }

  get(provider: Provider, limits: Partial<Limits>): Host {
    const key = keyOf(provider, limits);
    const found = this.#open.get(key);
    if (found) return found;
    const host = connect(provider, limits, this.#clock, this.#proxies);
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
