import type { Shadow } from "../../api/stats.ts";
import { winOf } from "../../core/bandit/policy.ts";
import { meanInterval } from "../../core/statistics.ts";
import { inPages } from "../../learner/pages.ts";
import type { Answered, LogEvent } from "../../store/events.ts";
import type { Store } from "../../store/store.ts";
import { decisionOfShadow } from "../feedback/shadow-id.ts";

/** A shadow comparison: the model that the router would have chosen against the one that was served. */
interface Compared {
  /** 1 if the judge preferred the router's choice, 0.5 for a tie. */
  readonly win: number;
  /** Cost and latency of the router's choice less those of the served answer, if both are known. */
  readonly cost: number | undefined;
  readonly latencyMs: number | undefined;
}

/** Results of the shadow comparisons of all routers. Only new votes are read again. */
export class ShadowResults {
  readonly #store: Pick<Store, "logEvents" | "decision">;
  readonly #known = new Map<string, { position: number; readonly list: Compared[] }>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, "logEvents" | "decision">) {
    this.#store = store;
  }

  /** The results of a router, or null if there are none. */
  of(router: string): Promise<Shadow | null> {
    // One read at a time, so that no vote is counted twice.
    const result = this.#reading.then(() => this.#read(router));
    this.#reading = result.catch(() => {});
    return result;
  }

  async #read(router: string): Promise<Shadow | null> {
    const known = this.#known.get(router) ?? { position: 0, list: [] };
    this.#known.set(router, known);
    const page = (after: number, limit: number) => this.#store.logEvents(router, after, limit);
    for await (const event of inPages(page, known.position)) {
      const compared = await this.#comparedIn(event);
      if (compared) known.list.push(compared);
      known.position = event.position;
    }
    return summaryOf(known.list);
  }

  /** The comparison that an event is a vote on; undefined if it is another event. */
  async #comparedIn(event: LogEvent): Promise<Compared | undefined> {
    if (event.kind !== "voted" || !("outcome" in event.verdict)) return undefined;
    const decision = decisionOfShadow(event.decision);
    if (decision === undefined) return undefined;
    const record = await this.#store.decision(decision);
    return { win: winOf(event.verdict.outcome), ...differencesOf(record?.answers ?? []) };
  }
}

/** The served answer is in slot 0, that of the router's choice in slot 1. */
function differencesOf(answers: readonly Answered[]): Omit<Compared, "win"> {
  const [served, chosen] = [0, 1].map((slot) => answers.find((one) => one.slot === slot));
  const less = (of: (answer: Answered) => number | undefined) => {
    const [a, b] = [served && of(served), chosen && of(chosen)];
    return a === undefined || b === undefined ? undefined : b - a;
  };
  return { cost: less(({ cost }) => cost), latencyMs: less(({ latencyMs }) => latencyMs) };
}

function summaryOf(list: readonly Compared[]): Shadow | null {
  if (list.length === 0) return null;
  const known = (of: (one: Compared) => number | undefined) => {
    const values = list.map(of).filter((value) => value !== undefined);
    return values.length < 2 ? null : meanInterval(values);
  };
  const wins = list.map(({ win }) => win);
  // Two more comparisons, one of each kind, keep the interval of few equal verdicts from being empty.
  const { mean, lo, hi } = meanInterval([...wins, 0, 1]);
  return {
    comparisons: list.length,
    win_rate: { mean, lo: Math.max(0, lo), hi: Math.min(1, hi) },
    cost: known(({ cost }) => cost),
    latency_ms: known(({ latencyMs }) => latencyMs),
  };
}
