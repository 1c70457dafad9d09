import type { Decision, DecisionAnswer, RequestQuery } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { costOf, givenAnswers, votesInWords } from "../decision/in-words.ts";
import { Observable } from "../state/observable.ts";

/** The part of a request that a row shows; there may be many thousands of rows. */
export interface RequestRow {
  readonly id: string;
  readonly at: number;
  readonly router: string;
  readonly key: string | undefined;
  /** Models that answered; undefined while a duel hides them. */
  readonly models: string | undefined;
  readonly outcome: "ok" | "failed" | "stopped" | "fallback" | "none";
  readonly votes: string;
  /** Cost in US dollars and time in milliseconds; undefined if they are hidden or unknown. */
  readonly cost: number | undefined;
  readonly latency: number | undefined;
}

/** Progress of a search. */
export interface Progress {
  readonly state: "searching" | "paused" | "complete" | "failed";
  /** Time back to which requests were examined. */
  readonly searchedTo?: number | undefined;
  readonly problem?: string | undefined;
}

/** One search: its results, newest first, loaded page by page. */
export class RequestSearch {
  readonly rows = new Observable<readonly RequestRow[]>([]);
  readonly progress = new Observable<Progress>({ state: "searching" });
  readonly #query: RequestQuery;
  readonly #stop = new AbortController();
  #next: string | undefined;
  #loading: Promise<void> | undefined;

  constructor(query: RequestQuery) {
    this.#query = query;
  }

  /** Loads the next results. A search that finds nothing for long pauses, and the next call continues it. */
  more(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #load(): Promise<void> {
    if (this.progress.value.state === "complete") return;
    const { signal } = this.#stop;
    this.progress.set({ ...this.progress.value, state: "searching" });
    try {
      for (let page = 0; page < PAGES_AT_ONCE; page++) {
        const query = { ...this.#query, limit: PAGE, before: this.#next };
        const { data, next, searched_to: searched } = await joust.decisions(query, { signal });
        this.#next = next;
        const searchedTo = searched === undefined ? undefined : Date.parse(searched);
        if (data.length > 0) this.rows.set([...this.rows.value, ...data.map(rowOf)]);
        if (next === undefined) return this.progress.set({ state: "complete" });
        this.progress.set({ state: "searching", searchedTo });
        if (data.length > 0) break;
      }
      this.progress.set({ ...this.progress.value, state: "paused" });
    } catch (error) {
      if (signal.aborted) return;
      this.progress.set({
        ...this.progress.value,
        state: "failed",
        problem: (error as Error).message,
      });
    }
  }
}

const PAGE = 100;
/** Pages without a result after which a search pauses. Each examines up to 10,000 requests. */
const PAGES_AT_ONCE = 20;

function rowOf(decision: Decision): RequestRow {
  const answers = givenAnswers(decision);
  const latencies = answers.flatMap(({ latency_ms: ms }) => (ms === undefined ? [] : [ms]));
  return {
    id: decision.id,
    at: Date.parse(decision.at),
    router: decision.router,
    key: decision.key,
    models: decision.models?.join(" and "),
    outcome: outcomeOf(answers),
    votes: votesInWords(decision),
    cost: costOf(decision),
    latency: latencies.length === 0 ? undefined : Math.max(...latencies),
  };
}

function outcomeOf(answers: readonly DecisionAnswer[]): RequestRow["outcome"] {
  if (answers.length === 0) return "none";
  if (answers.some(({ status }) => status === "failed")) return "failed";
  if (answers.some(({ status }) => status === "cancelled")) return "stopped";
  return answers.some(({ fallbacks = [] }) => fallbacks.length > 0) ? "fallback" : "ok";
}
