import type { Random } from "../../core/random/random.ts";
import type { DollarLimit, Hold } from "../access/dollar-limit.ts";
import type { Clock } from "../clock/clock.ts";
import { chat } from "../dialects/chat/chat.ts";
import { asUpstreamError, callModel } from "../providers/attempt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { readAll } from "../providers/upstream/upstream.ts";
import { costOf, type Price } from "../providers/upstream/usage.ts";
import type { Journal, PaidAnswer } from "./journal.ts";
import { isUnpaid, ModelFailures, mayPass, PATIENCE_MS } from "./model-failures.ts";

/** The result of a call: an answer, a failure, or nothing because of the budget or because the evaluation stops. */
export type CallResult =
  | { readonly status: "ok"; readonly answer: PaidAnswer }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "unaffordable" }
  | { readonly status: "stopped" };

export interface CallSettings {
  /** Tokens of the longest answer. */
  readonly maxTokens: number;
  /** Number of further attempts after a failure. */
  readonly retries: number;
  /** Price of models whose price is unknown; without it, they are not called. */
  readonly assumedPrice?: Price | undefined;
}

interface CallParts {
  readonly journal: Journal;
  readonly limit: DollarLimit;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the evaluation is to stop. Calls that are running are completed, because they are paid for. */
  readonly signal: AbortSignal;
}

/** Calls models within a dollar limit. An answer in the journal is not paid for again. */
export class PaidCalls {
  readonly settings: CallSettings;
  readonly #parts: CallParts;
  readonly #running = new Map<string, Promise<CallResult>>();
  readonly #failures = new Map<string, ModelFailures>();
  /** Number of requests that were sent. */
  #sent = 0;
  #isExhausted = false;
  /** Largest cost of a call relative to its reservation: above 1 if an upstream charges more than its list price. */
  #excess = 1;

  constructor(settings: CallSettings, parts: CallParts) {
    this.settings = settings;
    this.#parts = parts;
  }

  /** Whether a call did not fit into the dollar limit. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Failures by the name of the model. */
  get failures(): ReadonlyMap<string, ModelFailures> {
    return this.#failures;
  }

  /** Whether a model has failed so often that it is not called any more. */
  hasGivenUp(model: string): boolean {
    return this.#failures.get(model)?.hasGivenUp ?? false;
  }

  /** Sends messages to a model. `key` names the answer in the journal. */
  call(model: ServedModel, key: string, messages: readonly object[]): Promise<CallResult> {
    const paid = this.#parts.journal.answer(key);
    if (paid) return Promise.resolve({ status: "ok", answer: paid });
    const running = this.#running.get(key) ?? this.#attempts(model, key, messages);
    this.#running.set(key, running);
    return running.finally(() => this.#running.delete(key));
  }

  /** The most that a call can cost. A token has at least one byte; a half is added for the chat template. */
  mostOf(model: ServedModel, bytes: number): number | undefined {
    const { maxTokens, assumedPrice: price } = this.settings;
    const known = model.mostCost(1.5 * bytes, maxTokens);
    if (known !== undefined) return this.#excess * known;
    return price && (this.#excess * (1.5 * bytes * price.input + maxTokens * price.output)) / 1e6;
  }

  async #attempts(
    model: ServedModel,
    key: string,
    messages: readonly object[],
  ): Promise<CallResult> {
    const { random, clock, signal } = this.#parts;
    const { maxTokens, retries } = this.settings;
    const body = Buffer.from(
      JSON.stringify({ model: model.name, messages, max_tokens: maxTokens }),
    );
    const failures = this.#failures.get(model.name) ?? new ModelFailures();
    this.#failures.set(model.name, failures);
    let [attempt, pauses, waited] = [0, 0, 0];
    let sentBefore: number | undefined;
    while (true) {
      if (signal.aborted) return { status: "stopped" };
      if (failures.hasGivenUp) {
        failures.leftOut++;
        return { status: "failed", reason: failures.reason };
      }
      const hold = await this.#reserve(model, body.length);
      if (!hold) return { status: "unaffordable" };
      const request = ++this.#sent;
      const result = await this.#attempt(model, key, body, hold);
      if (!("error" in result)) {
        failures.answered(request);
        return { status: "ok", answer: result };
      }
      const { error } = result;
      const own = failures.erred(error, clock.now());
      sentBefore ??= this.#sent;
      const isOutage = failures.isOutage(error, own, sentBefore, clock.now());
      if (!isOutage) attempt++;
      if (!mayPass(own) || (isOutage ? waited > PATIENCE_MS : attempt > retries)) {
        failures.failed(own.message);
        return { status: "failed", reason: own.message };
      }
      const jitter = random.uniform() * Math.min(BACKOFF_MS, BASE_MS * 2 ** pauses);
      const wait = Math.min(LONGEST_MS, error.retryAfter ?? 0) + jitter;
      pauses++;
      waited += wait;
      await clock.sleep(wait, signal).catch(() => {});
    }
  }

  async #reserve(model: ServedModel, bytes: number): Promise<Hold | undefined> {
    const most = this.mostOf(model, bytes);
    const hold =
      most === undefined || this.#isExhausted ? undefined : await this.#parts.limit.reserve(most);
    if (!hold) this.#isExhausted = true;
    return hold;
  }

  /** Sends one request, and records its cost whatever happens. */
  async #attempt(
    model: ServedModel,
    key: string,
    body: Buffer,
    hold: Hold,
  ): Promise<PaidAnswer | { readonly error: UpstreamError }> {
    const { journal, clock } = this.#parts;
    const call = journal.sent(hold.amount);
    const startedAt = clock.now();
    const request = {
      endpoint: "chat/completions",
      body,
      stream: false,
      model: model.name,
    } as const;
    try {
      const answer = await callModel(model, request, AbortSignal.timeout(CALL_MS));
      const text = chat.textOf(await readAll(answer));
      const { usage } = await answer.end;
      const known = model.cost(usage) ?? costOf(usage, this.settings.assumedPrice);
      const cost = known ?? hold.amount;
      if (cost > hold.amount) this.#excess *= cost / hold.amount;
      const paid = { text, cost, ms: clock.now() - startedAt };
      journal.answered(call, key, model.name, paid, this.settings.maxTokens);
      hold.settle(cost);
      return paid;
    } catch (thrown) {
      const error = asUpstreamError(thrown, model);
      const cost = isUnpaid(error) ? 0 : hold.amount;
      journal.failed(call, model.name, cost, error.message);
      hold.settle(cost);
      return { error };
    }
  }
}

const BASE_MS = 500;
const BACKOFF_MS = 20_000;
/** Longest time to wait because a model asks for it. */
const LONGEST_MS = 60_000;
const CALL_MS = 600_000;
