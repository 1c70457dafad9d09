import { Observable } from "../state/observable.ts";
import { ApiError, apiKey, request } from "./client.ts";
import { serverEvents } from "./server-events.ts";

/** live: events come; lost: nobody answers; off: the gateway tells this key no events. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live"; readonly awayMs?: number }
  | { readonly state: "lost"; readonly since: number }
  | { readonly state: "off"; readonly problem: string };

export interface FeedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * What happens at the gateway, for as long as somebody looks: a browser has six
 * connections for all tabs of a site, so those in the background let go.
 */
export class Feed {
  readonly connection = new Observable<Connection>({ state: "connecting" });
  readonly #listeners = new Set<(event: FeedEvent) => void>();
  #stop: AbortController | undefined;
  #hiding: number | undefined;

  start(): void {
    document.addEventListener("visibilitychange", () => this.#look());
    apiKey.watch(() => {
      this.#end();
      this.#look();
    });
    // The browser knows at once when the network is back.
    addEventListener("online", () => {
      this.#end();
      this.#look();
    });
    this.#look();
  }

  listen(listener: (event: FeedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #look(): void {
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
        const response = await request("/v1/events", { signal });
        attempt = 0;
        this.#found();
        for await (const { event, data } of serverEvents(response)) {
          if (event) this.#tell({ type: event, data: JSON.parse(data) as FeedEvent["data"] });
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && !error.passes) {
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

  #found(): void {
    const before = this.connection.value;
    const awayMs = before.state === "lost" ? Date.now() - before.since : undefined;
    this.connection.set({ state: "live", ...(awayMs !== undefined && { awayMs }) });
  }

  #tell(event: FeedEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

const HIDDEN_MS = 20_000;
const OFF_MS = 30_000;
const LONGEST_MS = 4000;

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}
