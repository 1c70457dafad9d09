import pg from "pg";
import type { Change } from "../store.ts";
import { configOf } from "./connect.ts";

/**
 * Receives notifications of changes on a separate connection and reconnects when it breaks.
 * Notifications sent in between are lost, which is why listeners also poll.
 */
export class Listening {
  readonly #url: string;
  readonly #tell: (change: Change) => void;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, tell: (change: Change) => void) {
    this.#url = url;
    this.#tell = tell;
  }

  async connect(): Promise<void> {
    const client = new pg.Client(configOf(this.#url));
    this.#client = client;
    client.on("error", () => {});
    client.on("end", () => this.#reconnect(client));
    client.on("notification", ({ payload }) => {
      if (payload) this.#tell(JSON.parse(payload) as Change);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      this.#reconnect(client);
    }
  }

  #reconnect(client: pg.Client): void {
    if (this.#closed || client !== this.#client) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#timer = setTimeout(() => void this.connect(), RETRY_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }
}

/** The channel on which nodes announce changes. */
export const CHANNEL = "joust";
const RETRY_MS = 500;
