import { isDuel } from "./decision.ts";
import type { Voted } from "./events.ts";
import type { DecisionRecord } from "./store.ts";

/** Whether a vote shows the models of a duel: votes of a judge, metrics and comments do not. */
export function revealsModels({
  source = "user",
  metric,
  verdict,
}: Pick<Voted, "metric" | "verdict"> & Partial<Pick<Voted, "source">>): boolean {
  return source === "user" && !metric && !("comment" in verdict);
}

/** Whether a decision is a duel whose models are hidden, because no person has voted yet. */
export function isHidden({ decision, votes }: Pick<DecisionRecord, "decision" | "votes">): boolean {
  return isDuel(decision) && !votes.some(revealsModels);
}
