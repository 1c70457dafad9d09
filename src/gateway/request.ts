import type { Caller } from "./access/access.ts";
import { checkMembers } from "./answer/check-members.ts";
import { type BudgetedDecision, decideWithinBudget } from "./answer/decide-within-budget.ts";
import { answerByModel } from "./answer/named-model.ts";
import type { AdmittedRequest, RequestParts } from "./answer/request-parts.ts";
import { RoutedAnswer } from "./answer/routed-answer.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { affinityOf, isStrict, withoutMetadataId } from "./dialects/options.ts";
import type { ClaimedId, ClientIds } from "./log/client-ids.ts";
import { ServedModel } from "./providers/served-model.ts";
import { resolveFor } from "./routing/serving.ts";
import { Stopwatch } from "./telemetry/metrics.ts";
import type { Client } from "./wire/client.ts";

/**
 * Answers a conversation in any dialect: POST /v1/chat/completions, /v1/responses, /v1/messages.
 *
 *   admit     the server, with `Access.admit`
 *   read      the dialect turns the body into a conversation
 *   decide    the router chooses one model, or two for a duel; their cost is set aside from the
 *             budget of the key, if it has one, and the client's own id is given to the decision
 *   attempt   the models are called; if one fails, others are
 *   deliver   the answers are written to the client as they come; the second answer of a duel that
 *             the client did not request is kept, so that the client may fetch it
 *   log       the decision after the models were called, the answers when they have ended
 *   teach     implicit signals and the judge learn from the answers
 *
 * A request that names a model is passed on to it. Nothing is decided.
 */
export async function answerConversation(
  parts: RequestParts,
  dialect: Dialect,
  { caller, headers, body }: AdmittedRequest,
  client: Client,
): Promise<void> {
  const stopwatch = new Stopwatch(parts.clock, parts.metrics);
  const found = parts.reader.read(dialect, body, headers);
  const read = found instanceof Promise ? await found : found;
  const request = withoutMetadataId(read.request);
  const target = resolveFor(caller, parts.serving(), request.model);
  checkMembers(caller, request.members);
  const isNative = target instanceof ServedModel && target.dialects.includes(dialect.name);
  if (!isNative) dialect.checkState?.(request.members);
  if (target instanceof ServedModel) {
    const strict = isStrict(request.members, headers);
    const affinity = affinityOf(request.members, headers);
    return answerByModel(target, parts, caller, { ...request, strict, affinity }, dialect, client);
  }
  const conversation = read.conversation();
  stopwatch.stage("parse");

  const decided = await decideWithinBudget(parts, caller, target, request, conversation, stopwatch);
  client.decision = decided.pending.id;
  const { id } = conversation.options;
  const named = id == null ? undefined : await claimed(id, parts.clientIds, caller, decided);

  const of = { caller, dialect, request, conversation, decided, named, stopwatch };
  const answer = new RoutedAnswer(parts, of, client);
  const answering = answer.attemptAndDeliver();
  const answers = await answer.log(answering);
  await answer.teach(answers);
}

/** Gives the client's id to the decision. If that fails, nothing is spent. */
async function claimed(
  id: string,
  clientIds: ClientIds,
  { owner }: Caller,
  { pending, reservation, reservedForSecond }: BudgetedDecision,
): Promise<ClaimedId | undefined> {
  try {
    return await clientIds.claim(id, owner, pending);
  } catch (error) {
    reservation?.settle(0);
    reservedForSecond?.settle(0);
    throw error;
  }
}
