import type { MachineLimits } from "../peers/peers.ts";
import { HttpError } from "../wire/http-error.ts";

/** Ends a request that was counted. */
type End = () => void;

/**
 * Counts the concurrent requests of each client. If several processes share the limits, each
 * process holds some permits of the machine in advance. A request uses one of them, and the process
 * asks for more only if none is left.
 */
export class Concurrency {
  readonly #limits: MachineLimits | undefined;
  readonly #clients = new Map<string, Counted>();

  constructor(limits: MachineLimits | undefined) {
    this.#limits = limits;
    limits?.onRecall((client, most) => this.#giveBack(client, most));
  }

  /**
   * Counts a request until the returned function is called. Returns undefined if the client has
   * reached its limit. Returns a promise only if permits must be requested.
   */
  begin(client: string, limit: number): End | undefined | Promise<End | undefined> {
    const counted = this.#clients.get(client) ?? { used: 0, permits: 0, acquiring: undefined };
    this.#clients.set(client, counted);
    if (!this.#limits) counted.permits = limit;
    if (hasRoom(counted, limit)) return this.#use(client, counted);
    return this.#limits && this.#acquire(this.#limits, client, limit, counted);
  }

  async #acquire(
    limits: MachineLimits,
    client: string,
    limit: number,
    counted: Counted,
  ): Promise<End | undefined> {
    while (!hasRoom(counted, limit)) {
      counted.acquiring ??= limits
        .acquire(client, limit, Math.ceil(limit / PORTIONS))
        .then((given) => {
          counted.permits += given;
          return given;
        })
        .finally(() => {
          counted.acquiring = undefined;
        });
      const given = await counted.acquiring;
      if (given === 0 && !hasRoom(counted, limit)) return undefined;
    }
    return this.#use(client, counted);
  }

  #use(client: string, counted: Counted): End {
    counted.used++;
    return () => {
      counted.used--;
      if (counted.used === 0 && !this.#limits) this.#clients.delete(client);
    };
  }

  #giveBack(client: string, most: number): number {
    const counted = this.#clients.get(client);
    const returned = counted ? Math.min(most, counted.permits - counted.used) : 0;
    if (counted) counted.permits -= returned;
    return returned;
  }
}

interface Counted {
  /** Requests that have not ended. */
  used: number;
  /** Requests at a time that this process may have. */
  permits: number;
  acquiring: Promise<number> | undefined;
}

function hasRoom({ used, permits }: Counted, limit: number): boolean {
  return used < Math.min(permits, limit);
}

/** A process asks for this part of a limit at a time. */
const PORTIONS = 16;

/** Responses that last long, so that their number is limited. */
export type Concurrent = "requests" | "events";

const NAMES: Readonly<Record<Concurrent, string>> = {
  requests: "requests",
  events: "event streams",
};

/** Error of a request beyond a limit. `own` is the limit that the key itself has. */
export function tooManyConcurrent(
  kind: Concurrent,
  limit: number,
  owner: string,
  own: number | undefined,
): HttpError {
  const hint = `wait for others to end, or raise ${settingOf(owner, own)}`;
  return new HttpError(429, `more than ${limit} ${NAMES[kind]} at a time`, {
    hint: kind === "events" ? "close other pages or clients" : hint,
    code: "too_many_concurrent",
    retryAfter: 1,
  });
}

/** Place where the limit of concurrent requests of an owner is set. */
function settingOf(owner: string, own: number | undefined): string {
  if (own === undefined) return "server.concurrent in joust.yaml";
  const inFile = /^config:(.+)$/.exec(owner)?.[1];
  return inFile ? `keys.${inFile}.concurrent in joust.yaml` : "it with `joust keys concurrent`";
}
