import type { IncomingHttpHeaders } from "node:http";
import type { Decision } from "../store/decision.ts";
import type { Access, Caller } from "./access/access.ts";
import type { VoteTokens } from "./access/vote-token.ts";
import { deliver } from "./deliver/deliver.ts";
import { direct } from "./deliver/direct.ts";
import { duel } from "./deliver/duel.ts";
import { readWishes } from "./dialects/chat/joust-options.ts";
import {
  type Chat,
  type ModelRequest,
  readChat,
  readModelRequest,
} from "./dialects/chat/request.ts";
import type { Case, Judge } from "./feedback/judge.ts";
import type { Asked, Recorder } from "./log/recorder.ts";
import { type Answering, attempt, type Errand, NobodyAnswered } from "./providers/attempt.ts";
import { ServedModel } from "./providers/served-model.ts";
import { type Decided, type DecideParts, decide, logDecision } from "./routing/decide.ts";
import type { LiveRouter } from "./routing/live-router.ts";
import { NO_DUEL } from "./routing/reasons.ts";
import { resolve } from "./routing/serving.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import { Stopwatch } from "./telemetry/stopwatch.ts";
import type { Client } from "./wire/client.ts";
import type { Json } from "./wire/json-value.ts";

export interface ChatParts extends DecideParts {
  readonly access: Pick<Access, "checkBudget">;
  readonly recorder: Recorder;
  readonly judge: Judge;
  readonly voteTokens: VoteTokens;
  readonly metrics: Metrics;
}

/** POST /v1/chat/completions: the online path around `plan`. */
export async function chatCompletions(
  parts: ChatParts,
  caller: Caller,
  client: Client,
  body: Uint8Array,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const stopwatch = new Stopwatch(parts.clock, parts.metrics);
  const request = readModelRequest(body);
  const target = resolve(parts.serving(), request.model);
  await parts.access.checkBudget(caller);
  if (target instanceof ServedModel) {
    return direct(parts, caller, client, target, "chat/completions", request);
  }
  const chat = readChat(request.members);
  const wishes = readWishes(request.members.value("joust"), headers);
  stopwatch.stage("parse");
  const decided = await decide(parts, caller, target, chat, wishes, stopwatch);
  client.decision = decided.plan.decision;
  const turn: Turn = { parts, caller, client, router: target, request, chat, decided };
  await (decided.plan.isDuel ? answerTwice(turn, stopwatch) : answerOnce(turn, stopwatch));
}

/** One routed request under way. */
interface Turn {
  readonly parts: ChatParts;
  readonly caller: Caller;
  readonly client: Client;
  readonly router: LiveRouter;
  readonly request: ModelRequest;
  readonly chat: Chat;
  readonly decided: Decided;
}

async function answerOnce(turn: Turn, stopwatch: Stopwatch): Promise<void> {
  const { parts, router, decided } = turn;
  const { plan } = decided;
  const isFixed = router.config.mode !== "apply";
  const answering = attempt(
    plan.pair[0],
    isFixed ? () => [] : plan.others,
    errandOf(turn),
    parts.recorder,
  );
  stopwatch.called();
  const records = meanwhile(() => {
    stopwatch.tell();
    return { decision: logDecision(parts.recorder, router, decided), note: noteOf(turn) };
  });
  await finish(turn, answering, stopwatch.startedAt, records);
}

/** What a request is told and logged of, made while its model thinks. */
interface Records {
  readonly decision: Decision;
  readonly note: Json;
}

/** Does it once the call has been sent, or at once when it is asked for. */
function meanwhile<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined;
  const result = () => {
    done ??= { value: work() };
    return done.value;
  };
  // The call goes out in an immediate of its own, before this one.
  setImmediate(() => {
    try {
      result();
    } catch {
      // Whoever asks for it hears of it.
    }
  });
  return result;
}

async function answerTwice(turn: Turn, stopwatch: Stopwatch): Promise<void> {
  const { parts, client, router, decided, chat, request } = turn;
  const { plan } = decided;
  const note = noteOf(turn);
  const isJudged = parts.judge.wants(router, chat);
  const ended = duel(parts, client, {
    plan,
    errand: errandOf(turn),
    asked: askedOf(turn),
    head: {
      id: `chatcmpl-${plan.decision}`,
      created: Math.floor(parts.clock.date() / 1000),
      model: request.model,
    },
    note: { ...note, duel: true },
    wantsUsage: chat.wantsUsage,
    onTexts: isJudged ? (texts) => parts.judge.onDuel(caseOf(turn, decision), texts) : undefined,
  });
  stopwatch.called();
  stopwatch.tell();
  ended.catch(() => {});
  const decision = logDecision(parts.recorder, router, decided);
  if (decided.session) parts.sessions.forget(decided.session);
  try {
    const [first, second] = await ended;
    router.cap.spent(first + second, second);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    // Both have failed: whoever else there is gives one answer, if somebody waits for it.
    const [next, ...rest] = client.signal.aborted ? [] : plan.others();
    if (!next || !error.first.elsewhere) {
      const { first, lastModel, fallbacks } = error;
      parts.recorder.failed(slotOf(turn), lastModel, first, stopwatch.startedAt, fallbacks);
      throw first;
    }
    const answering = attempt(next, () => rest, errandOf(turn), parts.recorder).then((found) => ({
      ...found,
      fallbacks: [...error.fallbacks, ...found.fallbacks],
    }));
    await finish(turn, answering, stopwatch.startedAt, () => ({ decision, note }));
  }
}

/** One answer to the client, or the reason why there is none. */
async function finish(
  turn: Turn,
  answers: Promise<Answering>,
  startedAt: number,
  records: () => Records,
): Promise<void> {
  const { parts, client, router, decided, request, chat } = turn;
  const asked = slotOf(turn);
  try {
    const answering = await answers;
    const { model, fallbacks } = answering;
    const { decision, note: told } = records();
    if (decided.session) parts.sessions.remember(decided.session, model.name);
    const note = {
      ...told,
      model: model.name,
      fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
    };
    const { stream } = request;
    const isJudged = parts.judge.wants(router, chat);
    const onText = isJudged
      ? (text: string) => parts.judge.onSingle(caseOf(turn, decision), model, text)
      : undefined;
    const single = { asked, answering, note, stream, wantsUsage: chat.wantsUsage, onText };
    router.cap.spent(await deliver(parts.recorder, client, single), 0);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    records(); // the log tells of the decision first
    const { first, lastModel, fallbacks } = error;
    parts.recorder.failed(asked, lastModel, first, startedAt, fallbacks);
    throw first;
  }
}

function caseOf({ router, chat, request }: Turn, decision: Decision): Case {
  return { router, chat, body: request.body, decision };
}

function errandOf({ request, client }: Turn): Errand {
  const { body, members, stream } = request;
  return { endpoint: "chat/completions", body, members, stream, signal: client.signal };
}

function askedOf({ router, decided, caller, chat }: Turn): Omit<Asked, "slot"> {
  return {
    router: router.name,
    decision: decided.plan.decision,
    owner: caller.owner,
    promptTokens: chat.needs.promptTokens,
  };
}

function slotOf(turn: Turn): Asked {
  return { ...askedOf(turn), slot: 0 };
}

/** What every routed answer says of itself. */
function noteOf({ parts, router, decided }: Turn): Json {
  const { decision } = decided.plan;
  const { mode } = router.config;
  const wanted = decided.details.notes?.duel;
  const isImpossible = wanted === "not_possible";
  return {
    decision_id: decision,
    router: router.name,
    mode: mode === "apply" ? undefined : mode,
    duel: isImpossible ? false : wanted === "capped" ? wanted : undefined,
    because: isImpossible ? NO_DUEL : undefined,
    vote_token: parts.voteTokens.issue(decision, decided.details.at),
  };
}
