import type { Decision } from "../../store/decision.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Caller } from "../access/access.ts";
import { type DeliveredAnswer, deliver, type ResponseForm } from "../deliver/deliver.ts";
import { deliverDuel } from "../deliver/duel.ts";
import { deliverFirst } from "../deliver/later.ts";
import type { Conversation, Dialect, ModelRequest } from "../dialects/dialect.ts";
import { withCalls } from "../dialects/items/steps.ts";
import type { ClaimedId } from "../log/client-ids.ts";
import { type AnswerSlot, paidUsage, type Recorder } from "../log/recorder.ts";
import {
  type Attempt,
  AttemptsFailed,
  attempt,
  attemptAfter,
  attemptDuel,
  fromAfforded,
} from "../providers/attempt.ts";
import type { PaidAnswer } from "../routing/answer-prices.ts";
import { logDecision, type PendingDecision } from "../routing/decide.ts";
import type { Stopwatch } from "../telemetry/metrics.ts";
import type { Client } from "../wire/client.ts";
import { abandonedCost, type BudgetedDecision, billed } from "./decide-within-budget.ts";
import { noteMaker } from "./decision-note.ts";
import type { RequestParts } from "./request-parts.ts";
import { type StartedSecond, startSecond } from "./second-answer.ts";

/** A request after its decision. */
export interface DecidedRequest {
  readonly caller: Caller;
  readonly dialect: Dialect;
  readonly request: ModelRequest;
  readonly conversation: Conversation;
  readonly decided: BudgetedDecision;
  /** The id that the client chose for the decision. */
  readonly named: ClaimedId | undefined;
  readonly stopwatch: Stopwatch;
}

/** The answer to a routed request: calls of models, delivery, log, and what is learned from it. */
export class RoutedAnswer {
  readonly #parts: RequestParts;
  readonly #of: DecidedRequest;
  readonly #client: Client;
  readonly #form: ResponseForm;
  readonly #slot: Omit<AnswerSlot, "slot">;
  #isJudged = false;
  #second: StartedSecond | undefined;

  constructor(parts: RequestParts, of: DecidedRequest, client: Client) {
    this.#parts = parts;
    this.#of = of;
    this.#client = client;
    this.#form = this.#responseForm();
    const { router, id: decision, isKept } = of.decided.pending;
    const { promptTokens } = of.conversation.needs;
    this.#slot = { router: router.name, decision, owner: of.caller.owner, promptTokens, isKept };
  }

  /**
   * Calls the models and writes their answers to the client. The calls are sent before it returns. While
   * the models answer, the decision is explained and logged.
   */
  attemptAndDeliver(): Promise<readonly DeliveredAnswer[]> {
    const { pending, reservedForSecond } = this.#of.decided;
    pending.charge();
    const cancelSecond = () => this.#second?.cancel();
    const answering = attemptAndDeliver(
      this.#parts,
      this.#of.decided,
      this.#client,
      this.#form,
      cancelSecond,
    );
    if (pending.isLater) {
      const slot = { ...this.#slot, until: this.#votableUntil };
      this.#second = startSecond(this.#parts, pending, this.#client, this.#form, slot);
      this.#second.finished.then(({ answer, cost }) => {
        const { model, end, failure } = answer;
        const own = end ? billed(model, cost) : cost;
        reservedForSecond?.settle(abandonedCost(failure?.error, own, reservedForSecond));
      });
    }
    this.#of.stopwatch.called();
    afterCalls(this.#explained, this.#logged);
    return answering;
  }

  /** Logs decision and answers, and settles the reserved cost. Throws the error that the client gets. */
  async log(answering: Promise<readonly DeliveredAnswer[]>): Promise<readonly DeliveredAnswer[]> {
    const { recorder } = this.#parts;
    const { decided, named, stopwatch } = this.#of;
    let answers: readonly DeliveredAnswer[] = [];
    let cost = 0;
    try {
      answers = await answering;
      this.#logged();
      cost = logAnswers(recorder, decided.pending, this.#slot, answers);
      for (const { failure } of answers) {
        cost = abandonedCost(failure?.error, cost, decided.reservation);
      }
    } catch (error) {
      this.#second?.cancel();
      if (!(error instanceof AttemptsFailed)) throw error;
      this.#logged();
      const { error: shown, fallbacks, last } = error;
      const { model, cost: lost = 0 } = last;
      const { startedAt } = stopwatch;
      const call = { model, error: shown, startedAt, fallbacks, cost: lost };
      cost = recorder.failed({ ...this.#slot, slot: 0 }, call);
      cost = abandonedCost(shown, cost, decided.reservation);
      throw shown;
    } finally {
      if (!answers.some(({ end }) => end && !end.error)) named?.release();
      decided.reservation?.settle(cost);
    }
    return answers;
  }

  /** Gives the answers to the implicit signals and to the judge. */
  async teach(answers: readonly DeliveredAnswer[]): Promise<void> {
    const { signals, judge } = this.#parts;
    const { conversation, request, decided } = this.#of;
    const answered = {
      dialect: this.#form.dialect,
      conversation,
      members: request.members,
      router: decided.pending.router,
      decision: this.#logged(),
    };
    const all = this.#second ? [...answers, (await this.#second.finished).answer] : answers;
    signals.consider(answered, all);
    if (this.#isJudged) judge.consider(answered, all);
  }

  readonly #explained = once(() => {
    const { pending } = this.#of.decided;
    const decision = pending.complete();
    const { voteTokens } = this.#parts;
    return { decision, note: noteMaker(pending, decision, voteTokens, this.#of.named?.id) };
  });

  readonly #logged = once((): Decision => {
    this.#of.stopwatch.report();
    const { decision } = this.#explained();
    return logDecision(this.#parts.recorder, this.#of.decided.pending, decision);
  });

  /** Time until which the decision can be voted on. */
  get #votableUntil(): number {
    const { vote_token_days: days } = this.#parts.serving().config.store;
    return this.#of.decided.pending.at + DAY_MS * days;
  }

  #responseForm(): ResponseForm {
    const { judge, signals, seconds } = this.#parts;
    const { conversation, request, dialect, caller } = this.#of;
    const { id, router, affinity } = this.#of.decided.pending;
    const { promptTokens, answerTokens = 0, tools } = conversation.needs;
    const until = this.#votableUntil;
    return {
      dialect: tools && router.config.judge?.tools === true ? withCalls(dialect) : dialect,
      request: {
        ...request,
        tokens: promptTokens + answerTokens,
        promptTokens,
        affinity,
        strict: conversation.options.strict ?? router.config.strict,
      },
      decision: id,
      wantsUsage: conversation.wantsUsage,
      promptTokens,
      note: (models) => this.#explained().note(models),
      keepSecond: (answer) => seconds.keep(id, caller.owner, until, answer),
      needsText: () => {
        this.#isJudged = judge.wants(router, conversation);
        return this.#isJudged || signals.needsText(router, conversation);
      },
    };
  }
}

/**
 * Calls the models and writes their answers. The calls are sent before this function waits. The
 * second answer of a duel that the client may fetch later is made elsewhere; `cancelSecond` stops it
 * if its model has to answer in place of the first.
 */
async function attemptAndDeliver(
  { recorder, sessions, clock }: RequestParts,
  { pending, affords }: BudgetedDecision,
  client: Client,
  form: ResponseForm,
  cancelSecond: () => void,
): Promise<readonly DeliveredAnswer[]> {
  const { pair, isDuel, isLater, others, session, router } = pending;
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
      if (!(error instanceof AttemptsFailed) || !error.error.elsewhere) throw error;
      const failed = [...error.fallbacks, error.last];
      const left = client.signal.aborted ? [] : others();
      const [next, ...rest] = await fromAfforded(left, failed, affords);
      if (!next) throw error;
      attempted = attemptAfter(failed, next, () => rest, request, client.signal, recorder, affords);
    }
  } else attempted = attempt(pair[0], others, request, client.signal, recorder, affords);
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
 * Runs work that no model call waits for, each piece in its own iteration of the event loop. Calls of
 * models are sent first, including those of requests that arrived at the same time. While the models
 * answer, there is time to explain the decision; it is logged after the answers that have arrived by
 * then were passed on.
 */
function afterCalls(...works: readonly (() => unknown)[]): void {
  let next = 0;
  const runNext = () => {
    const work = works[next++];
    if (!work) return;
    setImmediate(runNext);
    try {
      work();
    } catch {
      // The error is thrown again to the code that needs the result.
    }
  };
  setImmediate(() => setImmediate(runNext));
}

/**
 * Logs how the answers ended and counts their cost against the share of duels. Returns
 * the cost that counts against the key's budget.
 */
function logAnswers(
  recorder: Recorder,
  { router, settle, isLater, duel }: PendingDecision,
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
      total += billed(model, cost, fallbacks);
      return cost;
    }
    if (!failure) return 0;
    const lost = model.lostCost(failure.error.lost);
    const call = { ...failure, model: model.name, fallbacks, cost: lost, hidden: isHidden };
    const cost = recorder.failed(own, call);
    total += cost;
    return cost;
  });
  router.cap.spent(first + second, duel === "requested" ? 0 : second);
  return total;
}
