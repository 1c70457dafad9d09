import { codeOf } from "../../core/input/system-error.ts";
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
  /** Last error of each model itself, not of its circuit breaker. */
  readonly #errors = new Map<string, UpstreamError>();
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

  /** Failures by the name of the model, after all retries. */
  get failures(): ReadonlyMap<string, ModelFailures> {
    return this.#failures;
  }

  /** Whether a model has failed so often that it is not called any more. */
  hasGivenUp(model: string): boolean {
    return (this.#failures.get(model)?.inRow ?? 0) >= GIVE_UP;
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
    let [attempt, pauses, waited] = [0, 0, 0];
    while (true) {
      if (signal.aborted) return { status: "stopped" };
      const before = this.#failures.get(model.name);
      if (before && this.hasGivenUp(model.name)) return { status: "failed", reason: before.reason };
      const hold = await this.#reserve(model, body.length);
      if (!hold) return { status: "unaffordable" };
      const result = await this.#attempt(model, key, body, hold);
      if (!("error" in result)) {
        // Other calls may have failed since this one was sent.
        const { count = 0, reason = "" } = this.#failures.get(model.name) ?? {};
        this.#failures.set(model.name, { count, inRow: 0, reason });
        return { status: "ok", answer: result };
      }
      const { error } = result;
      const own = (error.code === "circuit_open" && this.#errors.get(model.name)) || error;
      this.#errors.set(model.name, own);
      const jitter = random.uniform() * Math.min(LONGEST_MS, BASE_MS * 2 ** pauses);
      const wait = Math.min(LONGEST_MS, error.retryAfter ?? 0) + jitter;
      // A limit of the rate says nothing about the model, so it does not count as a failure at first.
      if (!isRateLimit(own) || waited > PATIENCE_MS) attempt++;
      if (attempt > retries || !mayPass(own)) return this.#fail(model, own);
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
      journal.answered(call, key, model.name, paid);
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

  #fail(model: ServedModel, { message: reason }: UpstreamError): CallResult {
    const { count = 0, inRow = 0 } = this.#failures.get(model.name) ?? {};
    this.#failures.set(model.name, { count: count + 1, inRow: inRow + 1, reason });
    return { status: "failed", reason };
  }
}

export interface ModelFailures {
  readonly count: number;
  /** Failures since the last answer. */
  readonly inRow: number;
  readonly reason: string;
}

/** Number of failures in a row after which a model is not called any more. */
const GIVE_UP = 5;

/** Whether a model refused a call because it gets too many, by its own limit or that of the configuration. */
function isRateLimit({ code, status, retryable }: UpstreamError): boolean {
  return code === "limited" || (status === 429 && retryable);
}

/** Whether the same call may succeed later. */
function mayPass(error: UpstreamError): boolean {
  return error.retryable || error.code === "limited" || error.code === "circuit_open";
}

/** Whether a call failed before the model has read it. After any other failure it may have been charged. */
function isUnpaid({ code, cause }: UpstreamError): boolean {
  return REFUSED.has(code) || UNCONNECTED.has(codeOf(cause));
}

const REFUSED: ReadonlySet<string> = new Set(["status", "limited", "circuit_open", "request"]);
/** Codes of system errors while a connection is opened. */
const UNCONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const BASE_MS = 500;
const LONGEST_MS = 60_000;
const CALL_MS = 600_000;
/** Time that a call waits for a limit of the rate before the limit counts as a failure. */
const PATIENCE_MS = 120_000;
