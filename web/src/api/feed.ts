import { ApiError, type FeedEvent } from "../../../src/client.ts";
import { Observable } from "../state/observable.ts";
import { joust, session } from "./client.ts";

/** live: events arrive; lost: the gateway does not respond; off: this key may not read events. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live"; readonly awayMs?: number }
  | { readonly state: "lost"; readonly since: number }
  | { readonly state: "off"; readonly problem: string };

/**
 * Events of the gateway while the page is visible. A browser opens at most six connections
 * to a site for all of its tabs, so tabs in the background close theirs.
 */
export class Feed {
  readonly connection = new Observable<Connection>({ state: "connecting" });
  readonly #listeners = new Set<(event: FeedEvent) => void>();
  #stop: AbortController | undefined;
  #hiding: number | undefined;

  start(): void {
    document.addEventListener("visibilitychange", () => this.#update());
    // Another key may see other events.
    let key = session.value?.key?.name;
    session.watch((next) => {
      if (next?.key?.name === key) return;
      key = next?.key?.name;
      this.#end();
      this.#update();
    });
    // The browser notices at once when the network is back.
    addEventListener("online", () => {
      this.#end();
      this.#update();
    });
    this.#update();
  }

  listen(listener: (event: FeedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #update(): void {
    clearTimeout(this.#hiding);
    if (document.visibilityState === "hidden") {
      this.#hiding = window.setTimeout(() => this.#end(), HIDDEN_MS);
    } else if (!this.#stop) {
      this.#stop = new AbortController();
      this.#follow(this.#stop.signal);
    }
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const onOpen = () => {
          attempt = 0;
          this.#connected();
        };
        for await (const event of joust.events({ signal, onOpen })) this.#publish(event);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && !error.isTemporary) {
          this.connection.set({ state: "off", problem: error.message });
          await pause(OFF_MS, signal);
          continue;
        }
      }
      if (signal.aborted) return;
      if (this.connection.value.state !== "lost") {
        this.connection.set({ state: "lost", since: Date.now() });
      }
      await pause(Math.min(LONGEST_MS, 250 * 2 ** attempt), signal);
    }
  }

  #connected(): void {
    const before = this.connection.value;
    const awayMs = before.state === "lost" ? Date.now() - before.since : undefined;
    this.connection.set({ state: "live", ...(awayMs !== undefined && { awayMs }) });
  }

  #publish(event: FeedEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

const HIDDEN_MS = 20_000;
const OFF_MS = 30_000;
const LONGEST_MS = 4000;

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
  });
}
