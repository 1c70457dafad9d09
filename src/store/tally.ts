import type { Decision } from "./decision.ts";
import type { Answered, Control, Voted } from "./events.ts";
import { PRICED_COUNTS } from "./priced-counts.ts";

/**
 * Counts for one router and model in a bucket of five minutes. They are updated in the same
 * transaction as the events, so that charts need not read them. The model "" stands for all
 * models together: there `shown` counts decisions, `duels` counts decisions with two answers and
 * `wins` counts votes for the answer shown first.
 */
export interface Tally {
  readonly router: string;
  readonly bucket: number;
  readonly model: string;
  readonly counts: Counts;
}

export type Counts = Record<(typeof COUNTS)[number], number>;

export const COUNTS = [
  "shown",
  "duels",
  "answers",
  "failures",
  "input_tokens",
  "output_tokens",
  "cost",
  "latency_ms",
  "votes",
  "wins",
  "ties",
  "both_bad",
  "ratings",
  "rating_sum",
  /** Calls of a model that failed and were followed by a call of another model. */
  "fallbacks",
  /** Part of `cost` that was paid for calls that failed. */
  "failed_cost",
  /** Part of `answers` without `failures` that was made for a judge, so that no client received it. */
  "for_judge",
  ...PRICED_COUNTS,
] as const;

export const BUCKET_MS = 300_000;
export const ALL_MODELS = "";

export type Tallied = Omit<Decision, "x"> | Answered | Omit<Voted, "x"> | Control;

export function tally(events: readonly Tallied[]): Tally[] {
  const groups = new Map<string, Map<string, Tally>>();
  // Most events of a batch share router and bucket, so the last group is remembered.
  let group: Map<string, Tally> | undefined;
  let [lastRouter, lastBucket] = ["", Number.NaN];
  const countsOf = ({ router, at }: Tallied, model: string): Counts => {
    const bucket = at - (at % BUCKET_MS);
    if (!group || router !== lastRouter || bucket !== lastBucket) {
      const key = `${bucket} ${router}`;
      group = groups.get(key) ?? new Map();
      groups.set(key, group);
      [lastRouter, lastBucket] = [router, bucket];
    }
    let found = group.get(model);
    if (!found) {
      found = { router, bucket, model, counts: noCounts() };
      group.set(model, found);
    }
    return found.counts;
  };
  for (const event of events) {
    if (event.kind === "routed") {
      // The decision was counted when it was made, and its row was restored later.
      if (event.sample === 0) continue;
      const [a, b] = event.pair;
      const duels = Number(a !== b);
      addDecision(countsOf(event, ALL_MODELS), duels);
      addDecision(countsOf(event, a), duels);
      if (a !== b) addDecision(countsOf(event, b), duels);
    } else if (event.kind === "answered") {
      addAnswer(countsOf(event, ALL_MODELS), event);
      addAnswer(countsOf(event, event.model), event);
      for (const { model, cost = 0 } of event.fallbacks ?? []) {
        const counts = countsOf(event, model);
        counts.fallbacks++;
        addFailedCost(counts, cost);
        if (cost > 0) addFailedCost(countsOf(event, ALL_MODELS), cost);
      }
      for (const model in event.priced) addEach(countsOf(event, model), event.priced[model]!);
      const { always } = event;
      if (always === undefined || always === "counted") continue;
      for (let i = 0; i < always.models.length; i++) {
        const counts = countsOf(event, always.models[i]!);
        counts.always_cost += always.costs[i]!;
        counts.always_doubt += always.doubts[i]!;
      }
    } else if (event.kind === "voted") {
      for (const [model, counts] of voteCounts(event)) addEach(countsOf(event, model), counts);
    }
  }
  return [...groups.values()].flatMap((tallies) => [...tallies.values()]);
}

/** Adds counts, or subtracts them with factor -1. */
export function addCounts(a: Counts, b: Counts, factor = 1): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, a[name] + factor * b[name]])) as Counts;
}

export function noCounts(): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts;
}

function addDecision(sum: Counts, duels: number): void {
  sum.shown++;
  sum.duels += duels;
}

function addAnswer(sum: Counts, answer: Answered): void {
  const isFailed = answer.status === "failed";
  sum.answers++;
  sum.failures += Number(isFailed);
  sum.for_judge += Number(answer.forJudge === true && !isFailed);
  sum.input_tokens += Math.round(answer.inputTokens);
  sum.output_tokens += Math.round(answer.outputTokens);
  sum.cost += answer.cost;
  sum.failed_cost += isFailed ? answer.cost : (answer.lostCost ?? 0);
  sum.latency_ms += answer.latencyMs;
}

function addFailedCost(sum: Counts, cost: number): void {
  sum.cost += cost;
  sum.failed_cost += cost;
}

function addEach(sum: Counts, counts: Partial<Counts>): void {
  for (const name in counts) sum[name as keyof Counts] += counts[name as keyof Counts]!;
}

/** Counts of a vote by model. Comments and implicit signals are not counted. A ranking counts as a vote for each of its models and a win for the first. */
function voteCounts({ verdict, models, source }: Omit<Voted, "x">): [string, Partial<Counts>][] {
  if ("comment" in verdict || source === "signal") return [];
  if ("rating" in verdict) {
    const counts = { votes: 1, ratings: 1, rating_sum: verdict.rating };
    return [ALL_MODELS, models[0]!].map((model) => [model, counts]);
  }
  const winner = "ranking" in verdict ? 0 : { a: 0, b: 1, tie: -1, both_bad: -1 }[verdict.outcome];
  const both = "outcome" in verdict && verdict.outcome;
  return [ALL_MODELS, ...models].map((model, i) => [
    model,
    {
      votes: 1,
      wins: Number(winner === Math.max(0, i - 1)),
      ties: Number(both === "tie"),
      both_bad: Number(both === "both_bad"),
    },
  ]);
}

/** Cost by API key and calendar month (UTC), the period of budgets. Calls that failed are included. */
export function spending(
  events: readonly Tallied[],
): { owner: string; month: string; cost: number }[] {
  const sums = new Map<string, { owner: string; month: string; cost: number }>();
  for (const event of events) {
    if (event.kind !== "answered" || event.owner === undefined) continue;
    const { owner, fallbacks = [] } = event;
    const cost = fallbacks.reduce((sum, call) => sum + (call.cost ?? 0), event.cost);
    if (cost === 0) continue;
    const month = monthOf(event.at);
    const key = `${month} ${owner}`;
    sums.set(key, { owner, month, cost: (sums.get(key)?.cost ?? 0) + cost });
  }
  return [...sums.values()];
}

/** The calendar month (UTC) of a time, for example "2026-11". */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}
