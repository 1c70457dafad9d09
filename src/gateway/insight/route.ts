import type { RouteDecision } from "../../api/decision.ts";
import { isDuel } from "../../store/decision.ts";
import type { Caller } from "../access/access.ts";
import { chat } from "../dialects/chat/chat.ts";
import type { RequestHeaders } from "../dialects/dialect.ts";
import type { BodyReader } from "../dialects/reader/reader.ts";
import { ballotOf } from "../feedback/ballot.ts";
import type { VoteTokens } from "../feedback/vote-token.ts";
import type { ClientIds } from "../log/client-ids.ts";
import type { Recorder } from "../log/recorder.ts";
import { ServedModel } from "../providers/served-model.ts";
import { type DecideParts, decide, logDecision } from "../routing/decide.ts";
import { resolveFor } from "../routing/serving.ts";
import { HttpError } from "../wire/http-error.ts";
import { explanation } from "./decision-view.ts";

interface RouteParts extends DecideParts {
  readonly recorder: Recorder;
  readonly voteTokens: VoteTokens;
  readonly reader: BodyReader;
  readonly clientIds: ClientIds;
}

/** POST /v1/route: decides like a chat request, calls no model, and explains the decision. */
export async function route(
  parts: RouteParts,
  caller: Caller,
  body: Uint8Array,
  headers: RequestHeaders,
): Promise<RouteDecision> {
  const { request, conversation: readConversation } = await parts.reader.read(chat, body, headers);
  const router = resolveFor(caller, parts.serving(), request.model);
  if (router instanceof ServedModel) {
    throw new HttpError(400, `${request.model} is a model, so there is nothing to decide`, {
      hint: "name a router, for example auto",
      param: "model",
      code: "not_a_router",
    });
  }
  const conversation = readConversation();
  const pending = await decide(parts, caller, router, conversation);
  const { id } = conversation.options;
  const named = id == null ? undefined : await parts.clientIds.claim(id, caller.owner, pending);
  pending.charge();
  const decision = logDecision(parts.recorder, pending);
  const ballot = { ...ballotOf(decision, undefined, pending.isKept), x: decision.x };
  const canVote = (await parts.voteTokens.storeLarge(ballot, decision.at)) ?? true;
  return {
    object: "decision",
    id: decision.id,
    ...(named && { client_id: named.id }),
    router: router.name,
    mode: decision.mode,
    duel: isDuel(decision),
    model: decision.pair[0],
    models: [...new Set(decision.pair)],
    posterior_version: decision.version,
    ...explanation(decision),
    ...(canVote && { vote_token: parts.voteTokens.issue(ballot, decision.at) }),
  };
}
