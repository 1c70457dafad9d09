import type { Access, Billed, Caller } from "./access/access.ts";
import type { Reservation } from "./access/budgets.ts";
import type { Conversation } from "./dialects/dialect.ts";
import type { SecondAnswers } from "./log/second-answers.ts";
import { type DecideParts, decide, type PendingDecision } from "./routing/decide.ts";
import type { LiveRouter } from "./routing/live-router.ts";
import type { Stopwatch } from "./telemetry/metrics.ts";
import { HttpError } from "./wire/http-error.ts";

interface Parts extends DecideParts {
  readonly access: Pick<Access, "reserve">;
  readonly seconds: Pick<SecondAnswers, "hasRoom">;
}

/** A decision whose cost is set aside from the budget of the key, if it has one. */
interface BudgetedDecision {
  readonly pending: PendingDecision;
  readonly reservation: Reservation | undefined;
}

/**
 * Decides, and sets the cost aside. If the budget has no room for a second answer that the client
 * did not request, one model answers.
 */
export async function decideWithinBudget(
  parts: Parts,
  caller: Caller,
  router: LiveRouter,
  conversation: Conversation,
  stopwatch: Stopwatch,
): Promise<BudgetedDecision> {
  const decided = (hasRoomForSecond?: () => boolean) =>
    decide({ ...parts, hasRoomForSecond }, caller, router, conversation, stopwatch);
  const reserve = async (pending: PendingDecision): Promise<BudgetedDecision> => {
    const models = billedModels(pending, conversation);
    return { pending, reservation: await parts.access.reserve(caller, models) };
  };
  const pending = await decided(() => parts.seconds.hasRoom);
  if (caller.budget === undefined) return { pending, reservation: undefined };
  if (!pending.isLater) return reserve(pending);
  return reserve(pending).catch(async (error: unknown) => {
    if (!(error instanceof HttpError) || error.status !== 429) throw error;
    return reserve(await decided());
  });
}

/** The models of a decision with the most that their answers can cost. */
function billedModels(
  { pair, isDuel }: PendingDecision,
  { needs: { promptTokens, answerTokens }, n }: Conversation,
): Billed[] {
  return (isDuel ? pair : [pair[0]]).map((model) => {
    const most = model.mostCost(promptTokens, answerTokens);
    return { name: model.name, mostCost: most && n * most };
  });
}
