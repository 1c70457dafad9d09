import { type Access, type Billed, type Caller, UNPRICED_COST } from "../access/access.ts";
import type { Reservation } from "../access/budgets.ts";
import { costLimits } from "../dialects/cost-limits.ts";
import type { Conversation, CostLimits, ModelRequest } from "../dialects/dialect.ts";
import type { SecondAnswers } from "../log/second-answers.ts";
import type { Affords, Fallback } from "../providers/attempt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { type DecideParts, decide, type PendingDecision } from "../routing/decide.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Stopwatch } from "../telemetry/metrics.ts";
import { HttpError } from "../wire/http-error.ts";

interface Parts extends DecideParts {
  readonly access: Pick<Access, "reserve">;
  readonly seconds: Pick<SecondAnswers, "hasRoom">;
}

/** A decision whose cost is set aside from the budget of the key, if it has one. */
export interface BudgetedDecision {
  readonly pending: PendingDecision;
  /** The cost of the answers in the response. */
  readonly reservation: Reservation | undefined;
  /**
   * The cost of a second answer that is fetched later. It is settled separately, when that answer
   * ends.
   */
  readonly reservedForSecond?: Reservation | undefined;
  /** Sets aside what a model costs that answers in place of others; undefined without a budget. */
  readonly affords?: Affords | undefined;
}

/**
 * Decides, and sets the cost aside. If the budget has no room for a second answer that the client
 * did not request, one model answers.
 */
export async function decideWithinBudget(
  parts: Parts,
  caller: Caller,
  router: LiveRouter,
  request: ModelRequest,
  conversation: Conversation,
  stopwatch: Stopwatch,
): Promise<BudgetedDecision> {
  const pending = await decide(parts, caller, router, conversation, stopwatch, parts.seconds);
  if (caller.budget === undefined) return { pending, reservation: undefined };
  const limits = costLimits(request);
  const reserve = (models: readonly ServedModel[]) =>
    parts.access.reserve(caller, billedModels(models, limits));
  const { pair, isDuel, isLater } = pending;
  const [first, second] = pair;
  const reservation = await reserve(isDuel && !isLater ? pair : [first]);
  const affordsWith =
    (reserved: Reservation | undefined): Affords =>
    async (model, lost) => {
      const [{ mostCost = UNPRICED_COST } = {}] = billedModels([model], limits);
      return reserved === undefined || reserved.raise(lost + mostCost).catch(() => false);
    };
  const affords = affordsWith(reservation);
  if (!isLater) return { pending, reservation, affords };
  try {
    return { pending, reservation, reservedForSecond: await reserve([second]), affords };
  } catch (error) {
    reservation?.settle(0);
    if (!(error instanceof HttpError) || error.status !== 429) throw error;
    const single = await decide(parts, caller, router, conversation, stopwatch);
    const only = await reserve([single.pair[0]]);
    return { pending: single, reservation: only, affords: affordsWith(only) };
  }
}

/** The models that are called for a request, with the most that their answers can cost. */
export function billedModels(
  models: readonly ServedModel[],
  { prompt, prompts, n, answerTokens, thinkingTokens }: CostLimits,
): Billed[] {
  const one = { ...prompt, text: prompt.text / prompts };
  return models.map((model) => {
    const most = model.mostCost(model.mostTokens(one), answerTokens, thinkingTokens);
    return { name: model.name, mostCost: most && n * prompts * most };
  });
}

/**
 * The cost that counts against a budget if the client disconnected from a model that had not begun to answer: what
 * was set aside, because nothing shows how much the model wrote by then.
 */
export function abandonedCost(
  error: UpstreamError | undefined,
  cost: number,
  reserved: Reservation | undefined,
): number {
  return error?.isAbandoned ? Math.max(cost, reserved?.amount ?? 0) : cost;
}

/**
 * The part of an answer's cost that counts against a budget. `cost` includes the models that failed before. The answer of a
 * model without a price costs what its provider reports, or else an estimate.
 */
export function billed(
  { spec }: ServedModel,
  cost: number,
  fallbacks: readonly Fallback[] = [],
): number {
  const others = fallbacks.reduce((sum, { cost: lost = 0 }) => sum + lost, 0);
  return spec.price || cost > others ? cost : UNPRICED_COST + others;
}
