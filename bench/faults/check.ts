import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inPages } from "../../src/learner/pages.ts";
import type { Verdict } from "../../src/store/events.ts";
import type { Store } from "../../src/store/store.ts";
import { MAIN } from "../gateway-process.ts";
import type { Intent, Journal } from "./journal.ts";

/** Comparison of a log with the journal of the clients. All numbers except `logged` must be 0. */
export interface Findings {
  readonly logged: number;
  /** Acknowledged votes that are not in the log. */
  readonly lost: number;
  /** Votes that are in the log more than once. */
  readonly doubled: number;
  /** Votes whose content differs from the vote that the client cast. */
  readonly altered: number;
  /** Votes that no client has cast. */
  readonly invented: number;
  /** Whether folding the log gives the posterior that was saved last. */
  readonly matches: boolean;
}

/** `place` are the arguments of `joust replay` that name the store. */
export async function compare(
  store: Store,
  journal: Journal,
  place: readonly string[],
): Promise<Findings> {
  const counts = new Map<string, number>();
  let altered = 0;
  let invented = 0;
  for await (const event of inPages((after, limit) => store.logEvents("auto", after, limit))) {
    if (event.kind !== "voted") continue;
    const { decision, verdict } = event;
    counts.set(decision, (counts.get(decision) ?? 0) + 1);
    const intent = journal.intentOf(decision);
    if (!intent) invented++;
    else if (!isSame(verdict, intent)) altered++;
  }
  const votes = [...counts.values()];
  return {
    logged: votes.reduce((sum, count) => sum + count, 0),
    lost: [...journal.acknowledgedIds].filter((id) => !counts.has(id)).length,
    doubled: votes.filter((count) => count > 1).length,
    altered,
    invented,
    matches: await replayMatches(place),
  };
}

function isSame(verdict: Verdict, { winner }: Intent): boolean {
  return "outcome" in verdict && verdict.outcome === { 0: "a", 1: "b", tie: "tie" }[winner];
}

async function replayMatches(place: readonly string[]): Promise<boolean> {
  const args = [MAIN, "replay", ...place, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 27 });
  const { snapshot } = JSON.parse(stdout) as { snapshot?: { matches: boolean } };
  return snapshot?.matches === true;
}

export function isClean({ lost, doubled, altered, invented, matches }: Findings): boolean {
  return lost + doubled + altered + invented === 0 && matches;
}
