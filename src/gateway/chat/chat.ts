import type { IncomingHttpHeaders } from "node:http";
import type { Routed } from "../../store/events.ts";
import type { Caller } from "../access/access.ts";
import type { Case } from "../feedback/judge/judge.ts";
import type { Gateway } from "../gateway.ts";
import type { Json } from "../providers/json-value.ts";
import type { Asked } from "../recorder.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { NO_DUEL } from "../routing/reasons.ts";
import { ServedModel } from "../serving/served-model.ts";
import { resolve } from "../serving/serving.ts";
import { type Answering, attempt, type Errand, NobodyAnswered } from "./attempt.ts";
import { type Chat, type ModelRequest, readChat, readModelRequest } from "./chat-request.ts";
import type { Client } from "./client.ts";
import { type Decided, decide, logDecision } from "./decide.ts";
import { direct } from "./direct.ts";
import { duel } from "./duel.ts";
import { deliver } from "./single.ts";
import { Stopwatch } from "./stopwatch.ts";
import { readWishes } from "./wishes.ts";

/** POST /v1/chat/completions: the online path around `plan`. */
export async function chatCompletions(
  gateway: Gateway,
  caller: Caller,
  client: Client,
  body: Uint8Array,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const stopwatch = new Stopwatch(gateway);
  const request = readModelRequest(body);
  const target = resolve(gateway.serving, request.model);
  await gateway.access.checkBudget(caller);
  if (target instanceof ServedModel) {
    return direct(gateway, caller, client, target, "chat/completions", request);
  }
  const chat = readChat(request.members);
  const wishes = readWishes(request.members.value("joust"), headers);
  stopwatch.stage("parse");
  const decided = await decide(gateway, caller, target, chat, wishes, stopwatch);
  client.decision = decided.plan.decision;
  const turn: Turn = { gateway, caller, client, router: target, request, chat, decided };
  await (decided.plan.isDuel ? answerTwice(turn, stopwatch) : answerOnce(turn, stopwatch));
}

/** One routed request under way. */
interface Turn {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly client: Client;
  readonly router: LiveRouter;
  readonly request: ModelRequest;
  readonly chat: Chat;
  readonly decided: Decided;
}

async function answerOnce(turn: Turn, stopwatch: Stopwatch): Promise<void> {
  const { gateway, router, decided } = turn;
  const { plan } = decided;
  const isFixed = router.config.mode !== "apply";
  const answering = attempt(
    plan.pair[0],
    isFixed ? () => [] : plan.others,
    errandOf(turn),
    gateway.recorder,
  );
  stopwatch.called();
  const records = meanwhile(() => {
    stopwatch.tell();
    return { routed: logDecision(gateway, router, decided), note: noteOf(turn) };
  });
  await finish(turn, answering, stopwatch.startedAt, records);
}

/** What a request is told and logged of, made while its model thinks. */
interface Records {
  readonly routed: Routed;
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
  const { gateway, client, router, decided, chat, request } = turn;
  const { plan } = decided;
  const note = noteOf(turn);
  const isJudged = gateway.judge.wants(router, chat);
  const ended = duel(gateway, client, {
    plan,
    errand: errandOf(turn),
    asked: askedOf(turn),
    head: {
      id: `chatcmpl-${plan.decision}`,
      created: Math.floor(gateway.clock.date() / 1000),
      model: request.model,
    },
    note: { ...note, duel: true },
    wantsUsage: chat.wantsUsage,
    onTexts: isJudged
      ? (texts) => gateway.judge.onDuel(gateway, caseOf(turn, routed), texts)
      : undefined,
  });
  stopwatch.called();
  stopwatch.tell();
  ended.catch(() => {});
  const routed = logDecision(gateway, router, decided);
  if (decided.session) gateway.sessions.forget(decided.session);
  try {
    const [first, second] = await ended;
    router.cap.spent(first + second, second);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    // Both have failed: whoever else there is gives one answer, if somebody waits for it.
    const [next, ...rest] = client.signal.aborted ? [] : plan.others();
    if (!next || !error.first.elsewhere) {
      const { first, lastModel, fallbacks } = error;
      gateway.recorder.failed(slotOf(turn), lastModel, first, stopwatch.startedAt, fallbacks);
      throw first;
    }
    const answering = attempt(next, () => rest, errandOf(turn), gateway.recorder).then((found) => ({
      ...found,
      fallbacks: [...error.fallbacks, ...found.fallbacks],
    }));
    await finish(turn, answering, stopwatch.startedAt, () => ({ routed, note }));
  }
}

/** One answer to the client, or the reason why there is none. */
async function finish(
  turn: Turn,
  answers: Promise<Answering>,
  startedAt: number,
  records: () => Records,
): Promise<void> {
  const { gateway, client, router, decided, request, chat } = turn;
  const asked = slotOf(turn);
  try {
    const answering = await answers;
    const { model, fallbacks } = answering;
    const { routed, note: told } = records();
    if (decided.session) gateway.sessions.remember(decided.session, model.name);
    const note = {
      ...told,
      model: model.name,
      fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
    };
    const { stream } = request;
    const isJudged = gateway.judge.wants(router, chat);
    const onText = isJudged
      ? (text: string) => gateway.judge.onSingle(gateway, caseOf(turn, routed), model, text)
      : undefined;
    const single = { asked, answering, note, stream, wantsUsage: chat.wantsUsage, onText };
    router.cap.spent(await deliver(gateway, client, single), 0);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    records(); // the log tells of the decision first
    const { first, lastModel, fallbacks } = error;
    gateway.recorder.failed(asked, lastModel, first, startedAt, fallbacks);
    throw first;
  }
}

function caseOf({ router, chat, request }: Turn, routed: Routed): Case {
  return { router, chat, body: request.body, routed };
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
function noteOf({ gateway, router, decided }: Turn): Json {
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
    vote_token: gateway.voteTokens.issue(decision, decided.details.at),
  };
}
