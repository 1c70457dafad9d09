import type { Decision } from "../store/decision.ts";
import { DAY_MS, newDecisionId } from "../store/decision-id.ts";
import { type Access, type Caller, UNPRICED_COST } from "./access/access.ts";
import { decideWithinBudget } from "./decide-within-budget.ts";
import {
  type DeliveredAnswer,
  deliver,
  deliverUnchanged,
  type ResponseForm,
} from "./deliver/deliver.ts";
import { deliverDuel } from "./deliver/duel.ts";
import { deliverFirst } from "./deliver/later.ts";
import { answerLimits } from "./dialects/answer-limits.ts";
import { chat } from "./dialects/chat/chat.ts";
import { tokensIn } from "./dialects/chat/request.ts";
import type { Dialect, ModelRequest, RequestHeaders } from "./dialects/dialect.ts";
import { withCalls } from "./dialects/items/steps.ts";
import { affinityOf, isStrict, withoutMetadataId } from "./dialects/options.ts";
import type { BodyReader } from "./dialects/reader/reader.ts";
import { ballotOf } from "./feedback/ballot.ts";
import type { Judge } from "./feedback/judge.ts";
import type { Signals } from "./feedback/signals.ts";
import type { VoteTokens } from "./feedback/vote-token.ts";
import type { ClientIds } from "./log/client-ids.ts";
import { type AnswerSlot, DIRECT, paidUsage, type Recorder } from "./log/recorder.ts";
import type { SecondAnswers } from "./log/second-answers.ts";
import { type Attempt, AttemptsFailed, attempt, attemptDuel } from "./providers/attempt.ts";
import { ServedModel } from "./providers/served-model.ts";
import type { PaidAnswer } from "./routing/answer-prices.ts";
import { type DecideParts, logDecision, type PendingDecision } from "./routing/decide.ts";
import { resolveFor } from "./routing/serving.ts";
import { startSecond } from "./second-answer.ts";
import { type Metrics, Stopwatch } from "./telemetry/metrics.ts";
import type { Client } from "./wire/client.ts";
import { HttpError } from "./wire/http-error.ts";
import type { Json } from "./wire/json.ts";

/** Parts of the gateway that a request passes through. */
export interface RequestParts extends DecideParts {
  readonly access: Pick<Access, "reserve">;
  readonly recorder: Recorder;
  readonly judge: Judge;
  readonly signals: Signals;
  readonly voteTokens: VoteTokens;
  readonly metrics: Metrics;
  readonly reader: BodyReader;
  readonly clientIds: ClientIds;
  readonly seconds: SecondAnswers;
}

/** A request that the server has admitted: host, origin, key, scope and rate are checked. */
export interface AdmittedRequest {
  readonly caller: Caller;
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

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
  const isNative = target instanceof ServedModel && target.dialects.includes(dialect.name);
  if (!isNative) dialect.checkState?.(request.members);
  if (target instanceof ServedModel) {
    const strict = isStrict(request.members, headers);
    const affinity = affinityOf(request.members, headers);
    return answerBy(target, parts, caller, { ...request, strict, affinity }, dialect, client);
  }
  const conversation = read.conversation();
  stopwatch.stage("parse");
  const decided = await decideWithinBudget(parts, caller, target, conversation, stopwatch);
  const { pending, reservation, reservedForSecond } = decided;
  client.decision = pending.id;
  const { id } = conversation.options;
  const claiming = id == null ? undefined : parts.clientIds.claim(id, caller.owner, pending);
  const unclaimed = (error: unknown) => {
    reservation?.settle(0);
    reservedForSecond?.settle(0);
    throw error;
  };
  const named = claiming && (await claiming.catch(unclaimed));

  const { promptTokens, answerTokens = 0 } = conversation.needs;
  const isJudgedStep = conversation.needs.tools && target.config.judge?.tools === true;
  const reading = isJudgedStep ? withCalls(dialect) : dialect;
  const until = pending.at + DAY_MS * parts.serving().config.store.vote_token_days;
  let isJudged = false;
  const form: ResponseForm = {
    dialect: reading,
    request: {
      ...request,
      tokens: promptTokens + answerTokens,
      affinity: pending.affinity,
      strict: conversation.options.strict ?? target.config.strict,
    },
    decision: pending.id,
    wantsUsage: conversation.wantsUsage,
    promptTokens,
    note: (models) => explained().note(models),
    keepSecond: (answer) => parts.seconds.keep(pending.id, caller.owner, until, answer),
    needsText: () => {
      isJudged = parts.judge.wants(target, conversation);
      return isJudged || parts.signals.needsText(target, conversation);
    },
  };
  const answering = attemptAndDeliver(parts, pending, client, form, () => second?.cancel());
  const slot = {
    router: target.name,
    decision: pending.id,
    owner: caller.owner,
    promptTokens,
    isKept: pending.isKept,
  };
  const second = pending.isLater
    ? startSecond(parts, pending, client, form, { ...slot, until })
    : undefined;
  second?.finished.then(({ answer, cost }) => {
    reservedForSecond?.settle(answer.end ? billed(answer.model, cost) : 0);
  });
  stopwatch.called();
  const explained = once(() => {
    const decision = pending.complete();
    return { decision, note: noteMaker(pending, decision, parts.voteTokens, named?.id) };
  });
  const logged = once(() => {
    stopwatch.report();
    return logDecision(parts.recorder, pending, explained().decision);
  });
  afterCalls(explained, logged);

  let answers: readonly DeliveredAnswer[] = [];
  let cost = 0;
  try {
    answers = await answering;
    logged();
    cost = logAnswers(parts.recorder, pending, slot, answers);
  } catch (error) {
    second?.cancel();
    if (!(error instanceof AttemptsFailed)) throw error;
    logged();
    const { error: shown, lastModel: model, fallbacks, cost: lost } = error;
    const { startedAt } = stopwatch;
    const call = { model, error: shown, startedAt, fallbacks, cost: lost };
    cost = parts.recorder.failed({ ...slot, slot: 0 }, call);
    throw shown;
  } finally {
    if (!answers.some(({ end }) => end && !end.error)) named?.release();
    reservation?.settle(cost);
  }
  const decision = logged();
  const answered = {
    dialect: reading,
    conversation,
    members: request.members,
    router: target,
    decision,
  };
  const later = second ? [(await second.finished).answer] : [];
  parts.signals.consider(answered, [...answers, ...later]);
  if (isJudged) parts.judge.consider(answered, [...answers, ...later]);
}

/**
 * Calls the models and writes their answers. The calls are sent before this function waits. The
 * second answer of a duel that the client may fetch later is made elsewhere; `cancelSecond` stops it
 * if its model has to answer in place of the first.
 */
async function attemptAndDeliver(
  { recorder, sessions, clock }: RequestParts,
  { pair, isDuel, isLater, others, session, router }: PendingDecision,
  client: Client,
  form: ResponseForm,
  cancelSecond: () => void,
): Promise<readonly DeliveredAnswer[]> {
  const { request } = form;
  const created = Math.floor(clock.date() / 1000);
  let attempted: Promise<Attempt>;
  if (isDuel && !isLater) {
    const attempts = attemptDuel(pair, request, client.signal, recorder, clock);
    if (session) sessions.forget(session);
    try {
      return await deliverDuel(client, attempts, form, {
        created,
        graceMs: 1000 * router.config.duels.grace_seconds,
      });
    } catch (error) {
      // Both models failed. Another one gives a single answer if the client still waits.
      const [next, ...rest] = client.signal.aborted ? [] : others();
      if (!(error instanceof AttemptsFailed) || !next || !error.error.elsewhere) throw error;
      attempted = attempt(next, () => rest, request, client.signal, recorder).then((found) => ({
        ...found,
        fallbacks: [...error.fallbacks, ...found.fallbacks],
      }));
    }
  } else attempted = attempt(pair[0], others, request, client.signal, recorder);
  const found = await attempted;
  if (session) sessions.remember(session, found.model.name);
  const [, second] = pair;
  if (isLater && found.model !== second) {
    return [await deliverFirst(client, found, second.name, form, { created })];
  }
  cancelSecond();
  return [await deliver(client, found, form)];
}

/** Returns a function that does the work when it is first called, and returns its result every time. */
function once<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined;
  return () => {
    done ??= { value: work() };
    return done.value;
  };
}

/**
 * Does work that no call of a model waits for, each piece in another turn of the event loop. Calls are
 * sent in the next turn, those of requests that arrived together before any of this work. While the
 * model answers, there is time to explain the decision; it is logged after the answers that have
 * arrived by then were passed on.
 */
function afterCalls(...works: readonly (() => unknown)[]): void {
  let next = 0;
  const turn = () => {
    const work = works[next++];
    if (!work) return;
    setImmediate(turn);
    try {
      work();
    } catch {
      // The error is thrown again to the code that needs the result.
    }
  };
  setImmediate(() => setImmediate(turn));
}

/**
 * Returns a function that writes the member `joust`, which every routed response has, for the models
 * whose answers are shown. The token for the chosen models is made in advance, so that the first
 * byte does not wait for it.
 */
function noteMaker(
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

/**
 * Logs how the answers ended and counts their cost against the share of duels. Returns
 * the cost that counts against the key's budget.
 */
function logAnswers(
  recorder: Recorder,
  { router, settle, isLater }: PendingDecision,
  common: Omit<AnswerSlot, "slot">,
  answers: readonly DeliveredAnswer[],
): number {
  const paid = answers.flatMap(({ model, end }): PaidAnswer[] => {
    if (!end || (end.error && end.error.code !== "cancelled")) return [];
    const { usage, cost } = paidUsage(model, end, common.promptTokens);
    return [{ model: model.name, usage, cost, isWhole: !end.error }];
  });
  let settled = paid.length > 0 ? settle(paid) : undefined;
  let total = 0;
  const [first = 0, second = 0] = answers.map(({ slot, model, end, failure, fallbacks }) => {
    const own = { ...common, slot };
    const isHidden = isLater || answers.length === 2;
    if (end) {
      const cost = recorder.answered({ ...own, ...settled }, model, end, fallbacks, isHidden);
      // The first answer that is logged carries the counts of both.
      settled = undefined;
      total += billed(model, cost);
      return cost;
    }
    if (!failure) return 0;
    const lost = model.lostCost(failure.error.lost);
    const call = { ...failure, model: model.name, fallbacks, cost: lost, hidden: isHidden };
    const cost = recorder.failed(own, call);
    total += cost;
    return cost;
  });
  router.cap.spent(first + second, second);
  return total;
}

/** The cost of an answer that counts against a budget. */
function billed({ spec }: ServedModel, cost: number): number {
  return spec.price ? cost : UNPRICED_COST;
}

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
  await answerBy(model, parts, caller, request, chat, client);
}

/** Answers a request that names a model. Nothing is decided; the answer is logged for its cost. */
async function answerBy(
  model: ServedModel,
  { recorder, clock, access }: RequestParts,
  caller: Caller,
  request: ModelRequest,
  dialect: Dialect,
  client: Client,
): Promise<void> {
  const startedAt = clock.now();
  const { owner } = caller;
  const promptTokens = tokensIn(request.body.length);
  const { n, answerTokens } = answerLimits(request.members);
  const most = model.mostCost(promptTokens, answerTokens);
  const reservation =
    caller.budget === undefined
      ? undefined
      : await access.reserve(caller, [{ name: model.name, mostCost: most && n * most }]);
  const decision = newDecisionId(clock.date());
  const slot = { router: DIRECT, decision, slot: 0, owner, promptTokens };
  let cost = 0;
  try {
    const found = await attempt(model, () => [], request, client.signal, recorder);
    const end = await deliverUnchanged(client, found, dialect, request.stream);
    cost = billed(model, recorder.answered(slot, model, end, []));
  } catch (error) {
    if (!(error instanceof AttemptsFailed)) throw error;
    const call = { model: model.name, error: error.error, startedAt, cost: error.cost };
    cost = recorder.failed(slot, call);
    throw error.error;
  } finally {
    reservation?.settle(cost);
  }
}
