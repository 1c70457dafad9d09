import pg from "pg";
import type { Change } from "../store.ts";
import { CHANNEL } from "./append.ts";
import { configOf } from "./connect.ts";

/**
 * Hears of changes on a connection of its own, and makes a new one when that
 * breaks. What was said in between is missed: listeners look for themselves now
 * and then.
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
    client.on("end", () => this.#again(client));
    client.on("notification", ({ payload }) => {
      if (payload) this.#tell(JSON.parse(payload) as Change);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      this.#again(client);
    }
  }

  #again(client: pg.Client): void {
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

const RETRY_MS = 500;
