import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../access/access.ts";
import type { VoteTokens } from "../access/vote-token.ts";
import { readWishes } from "../dialects/chat/joust-options.ts";
import { readChat, readModelRequest } from "../dialects/chat/request.ts";
import { HttpError } from "../errors/http-error.ts";
import type { Recorder } from "../log/recorder.ts";
import { ServedModel } from "../providers/served-model.ts";
import { type DecideParts, decide, logDecision } from "../routing/decide.ts";
import { resolve } from "../routing/serving.ts";
import { explanation } from "./decision-view.ts";

interface RouteParts extends DecideParts {
  readonly recorder: Recorder;
  readonly voteTokens: VoteTokens;
}

/** POST /v1/route: who would answer, and why. The decision is logged, so that it can be voted on. */
export async function route(
  parts: RouteParts,
  caller: Caller,
  body: Uint8Array,
  headers: IncomingHttpHeaders,
): Promise<object> {
  const request = readModelRequest(body);
  const router = resolve(parts.serving(), request.model);
  if (router instanceof ServedModel) {
    throw new HttpError(400, `${request.model} is a model, and there is nothing to decide`, {
      hint: "name a router, as auto",
      param: "model",
      code: "not_a_router",
    });
  }
  const chat = readChat(request.members);
  const wishes = readWishes(request.members.value("joust"), headers);
  const decided = await decide(parts, caller, router, chat, wishes);
  const event = logDecision(parts.recorder, router, decided);
  return {
    object: "decision",
    id: event.id,
    router: router.name,
    mode: event.mode,
    duel: decided.plan.isDuel,
    model: event.pair[0],
    models: [...new Set(event.pair)],
    posterior_version: event.version,
    ...explanation(event),
    vote_token: parts.voteTokens.issue(event.id, event.at),
  };
}
