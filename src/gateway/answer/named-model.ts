import { newDecisionId } from "../../store/decision-id.ts";
import type { Caller } from "../access/access.ts";
import { deliverUnchanged } from "../deliver/deliver.ts";
import { answerLimits } from "../dialects/answer-limits.ts";
import { chat } from "../dialects/chat/chat.ts";
import { costLimits } from "../dialects/cost-limits.ts";
import type { Dialect, ModelRequest } from "../dialects/dialect.ts";
import { DIRECT } from "../log/recorder.ts";
import { AttemptsFailed, attempt } from "../providers/attempt.ts";
import { ServedModel } from "../providers/served-model.ts";
import { tokensOfBytes } from "../providers/upstream/text-tokens.ts";
import { resolveFor } from "../routing/serving.ts";
import type { Client } from "../wire/client.ts";
import { HttpError } from "../wire/http-error.ts";
import { checkMembers } from "./check-members.ts";
import { abandonedCost, billed, billedModels } from "./decide-within-budget.ts";
import type { AdmittedRequest, RequestParts } from "./request-parts.ts";

/** Answers POST /v1/completions and /v1/embeddings, which are not routed. */
export async function answerUnrouted(
  parts: RequestParts,
  endpoint: "completions" | "embeddings",
  { caller, body }: AdmittedRequest,
  client: Client,
): Promise<void> {
  const request = await parts.reader.readRequest(endpoint, body);
  const model = resolveFor(caller, parts.serving(), request.model);
  if (!(model instanceof ServedModel)) {
    throw new HttpError(400, `${request.model} is a router, which only answers chats`, {
      hint: "name a model, or use /v1/chat/completions",
      param: "model",
      code: "not_a_model",
    });
  }
  checkMembers(caller, request.members);
  await answerByModel(model, parts, caller, request, chat, client);
}

/** Answers a request that names a model. Nothing is decided; the answer is logged for its cost. */
export async function answerByModel(
  model: ServedModel,
  { recorder, clock, access }: RequestParts,
  caller: Caller,
  request: ModelRequest,
  dialect: Dialect,
  client: Client,
): Promise<void> {
  const startedAt = clock.now();
  const { owner } = caller;
  const promptTokens = tokensOfBytes(request.body.length);
  answerLimits(request.members); // refuses impossible numbers of answers
  const reservation =
    caller.budget === undefined
      ? undefined
      : await access.reserve(caller, billedModels([model], costLimits(request)));
  const decision = newDecisionId(clock.date());
  const slot = { router: DIRECT, decision, slot: 0, owner, promptTokens };
  let cost = 0;
  try {
    const found = await attempt(model, () => [], request, client.signal, recorder);
    const end = await deliverUnchanged(client, found, dialect, request.stream);
    cost = billed(model, recorder.answered(slot, model, end, []));
  } catch (error) {
    if (!(error instanceof AttemptsFailed)) throw error;
    const call = { model: model.name, error: error.error, startedAt, cost: error.last.cost ?? 0 };
    cost = abandonedCost(error.error, recorder.failed(slot, call), reservation);
    throw error.error;
  } finally {
    reservation?.settle(cost);
  }
}
