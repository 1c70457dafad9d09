import type { Decision } from "../../store/decision.ts";
import type { ResponseForm } from "../deliver/deliver.ts";
import { ballotOf } from "../feedback/ballot.ts";
import type { VoteTokens } from "../feedback/vote-token.ts";
import type { PendingDecision } from "../routing/decide.ts";
import type { Json } from "../wire/json.ts";

/**
 * Returns a function that writes the member `joust`, which every routed response has, for the models
 * whose answers are shown. The token for the chosen models is made in advance, so that the first
 * byte does not wait for it.
 */
export function noteMaker(
  { id, at, router, duel, because, isKept }: PendingDecision,
  decision: Decision,
  voteTokens: VoteTokens,
  named: string | undefined,
): ResponseForm["note"] {
  const { mode } = router.config;
  const common = {
    decision_id: id,
    id: named,
    router: router.name,
    mode: mode === "apply" ? undefined : mode,
    duel: duel === "not_possible" ? false : duel === "capped" ? duel : undefined,
    because,
  };
  const ballot = { ...ballotOf(decision, undefined, isKept), x: decision.x };
  const issue = (models: readonly string[]): Json => ({
    ...common,
    vote_token: voteTokens.issue({ ...ballot, models }, at),
  });
  const stored = voteTokens.storeLarge(ballot, at);
  // Without a stored embedding nobody could vote, so there is no token.
  if (stored) return async (models) => ((await stored) ? issue(models) : common);
  const expected = issue(ballot.models);
  return (models) => (isSame(models, ballot.models) ? expected : issue(models));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}
