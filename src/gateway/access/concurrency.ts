import type { MachineLimits } from "../peers/peers.ts";
import { HttpError } from "../wire/http-error.ts";

/** Ends a request that was counted. */
type End = () => void;

/**
 * Counts the concurrent requests of each client. If several processes share the limits, each
 * process holds some permits of the machine in advance. A request uses one of them, and the process
 * asks for more only if none is left, or if the limit has changed: permits of a higher limit may be
 * more than the new one allows.
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
    const counted = this.#clients.get(client) ?? newCounted(limit);
    this.#clients.set(client, counted);
    if (counted.limit !== limit) {
      counted.limit = limit;
      counted.returned += counted.permits - counted.used;
      counted.permits = counted.used;
    }
    if (!this.#limits) counted.permits = limit;
    if (hasRoom(counted)) return this.#use(client, counted);
    return this.#limits && this.#acquire(this.#limits, client, counted);
  }

  async #acquire(
    limits: MachineLimits,
    client: string,
    counted: Counted,
  ): Promise<End | undefined> {
    while (!hasRoom(counted)) {
      counted.acquiring ??= this.#acquireMore(limits, client, counted);
      const isRefused = await counted.acquiring;
      if (isRefused && !hasRoom(counted)) return undefined;
    }
    return this.#use(client, counted);
  }

  /** Asks for more permits. Returns whether there are none. */
  async #acquireMore(limits: MachineLimits, client: string, counted: Counted): Promise<boolean> {
    const { limit, returned } = counted;
    counted.returned = 0;
    try {
      const given = await limits.acquire(client, limit, Math.ceil(limit / PORTIONS), returned);
      const isCurrent = counted.limit === limit;
      // Permits of a limit that has changed in the meantime are given back with the next request.
      if (isCurrent) counted.permits += given;
      else counted.returned += given;
      return isCurrent && given === 0;
    } finally {
      counted.acquiring = undefined;
    }
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
  /** The limit of all processes together. */
  limit: number;
  /** Permits of another limit that this process does not use and has yet to give back. */
  returned: number;
  acquiring: Promise<boolean> | undefined;
}

function newCounted(limit: number): Counted {
  return { used: 0, permits: 0, limit, returned: 0, acquiring: undefined };
}

function hasRoom({ used, permits, limit }: Counted): boolean {
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
