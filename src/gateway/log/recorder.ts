import type { Logger } from "pino";
import { type Decision, isDuel } from "../../store/decision.ts";
import type { Answered } from "../../store/events.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Fallback } from "../providers/attempt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import type { AnswerEnd } from "../providers/upstream/upstream.ts";
import { usageOf } from "../providers/upstream/usage.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Feed } from "./feed.ts";
import { shortened } from "./shorten.ts";

/** Identifies an answer in the log. */
export interface AnswerSlot {
  readonly router: string;
  /** Id of the decision. */
  readonly decision: string;
  readonly slot: number;
  readonly owner: string | undefined;
  /** True if the answer is made for a judge, so that no client receives it. */
  readonly forJudge?: boolean | undefined;
  /** Estimate that is logged if the upstream reports no usage. */
  readonly promptTokens: number;
  /** False if the decision is not part of the sample, so that the answer is only counted. */
  readonly isKept?: boolean | undefined;
  /** Numbers that the tallies add for the comparison with other models. */
  readonly priced?: Answered["priced"];
  readonly always?: Answered["always"];
}

/** A request, or a slot of a duel, that no model answered. */
interface FailedCall {
  /** Name of the last model that was called. */
  readonly model: string;
  readonly error: UpstreamError;
  /** Time of the clock at which the first call began. */
  readonly startedAt: number;
  /** Calls of other models before the last one. */
  readonly fallbacks?: readonly Fallback[];
  /** Cost of the last call in US dollars. */
  readonly cost: number;
  /** Whether events must not name the model, because it belongs to a duel. */
  readonly hidden?: boolean;
}

/** Router name in the log for requests that name a model. No router decides them. */
export const DIRECT = "(direct)";

interface RecorderParts {
  readonly log: Pick<GroupCommit, "log">;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Records decisions and answers in the log, the metrics and the feed. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #ofModels = new WeakMap<ServedModel, ReturnType<typeof modelMetrics>>();
  readonly #ofRouters = new Map<string, ReturnType<typeof decisionCounters>>();
  /** Times of the warnings about models, by model and hint. */
  readonly #warnedAt = new Map<string, number>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Records a decision. If it is not kept, because it is not part of the sample, it is only counted. */
  decided(decision: Decision, isKept: boolean): void {
    const duel = isDuel(decision);
    this.#parts.log.log(shortened(decision), isKept);
    this.#decisionsOf(decision.router)[duel ? "duel" : "single"].inc();
    this.#parts.feed.publish(decision.owner, () => ({
      type: "decision",
      data: {
        id: decision.id,
        at: decision.at,
        router: decision.router,
        duel,
        // The models of a duel are hidden until the vote.
        ...(duel ? {} : { model: decision.pair[0] }),
        version: decision.version,
        categories: decision.reasons?.categories,
      },
    }));
  }

  /**
   * Records an answer that has ended. Returns its cost and that of the models that failed before it,
   * or 0 if that is unknown.
   */
  answered(
    slot: AnswerSlot,
    model: ServedModel,
    end: AnswerEnd,
    fallbacks: readonly Fallback[],
    hidden = false,
  ): number {
    const { usage, cost: paid, lost } = paidUsage(model, end, slot.promptTokens);
    const cost = paid + lost;
    const status = end.error === undefined ? "ok" : statusOf(end.error);
    const metrics = this.#metricsOf(model);
    metrics.duration.observe((end.endedAt - end.sentAt) / 1000);
    if (!Number.isNaN(end.firstByteAt)) {
      metrics.firstByte.observe((end.firstByteAt - end.sentAt) / 1000);
    }
    metrics.input.inc(usage.promptTokens);
    metrics.output.inc(usage.completionTokens);
    metrics.answers[status].inc();
    metrics.spend.inc(cost);
    if (end.error && status === "failed") this.upstreamError(model.name, end.error);
    this.#write(
      {
        ...this.#headOf(slot, model.name, status),
        forJudge: slot.forJudge,
        inputTokens: usage.promptTokens,
        outputTokens: usage.completionTokens,
        cost,
        lostCost: lost > 0 ? lost : undefined,
        latencyMs: rounded(end.endedAt - end.sentAt),
        firstByteMs: Number.isNaN(end.firstByteAt)
          ? undefined
          : rounded(end.firstByteAt - end.sentAt),
        fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
        error: status === "failed" ? end.error?.message.slice(0, LONGEST_ERROR) : undefined,
        priced: slot.priced,
        always: slot.always,
      },
      slot.isKept,
      hidden,
    );
    return cost + this.#spentOn(fallbacks);
  }

  /** Records that no model answered. Returns the cost of all calls. */
  failed(slot: AnswerSlot, call: FailedCall): number {
    const { model, error, startedAt, fallbacks = [], cost, hidden = false } = call;
    const status = statusOf(error);
    this.#parts.metrics.answers.inc({ model, status });
    const answered = {
      ...this.#headOf(slot, model, status),
      inputTokens: 0,
      outputTokens: 0,
      cost,
      latencyMs: rounded(this.#parts.clock.now() - startedAt),
      fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
      error: status === "failed" ? error.message.slice(0, LONGEST_ERROR) : undefined,
    };
    this.#write(answered, slot.isKept, hidden);
    return this.#spentOn([...fallbacks, { model, cost }]);
  }

  /** Members that the events of complete and of failed answers share. */
  #headOf(
    { router, decision, slot, owner }: AnswerSlot,
    model: string,
    status: Answered["status"],
  ) {
    const at = this.#parts.clock.date();
    return { kind: "answered" as const, router, decision, slot, owner, at, model, status };
  }

  /** Counts the cost of calls that failed. Returns their sum. */
  #spentOn(calls: readonly Pick<Fallback, "model" | "cost">[]): number {
    let sum = 0;
    for (const { model, cost = 0 } of calls) {
      if (cost > 0) this.#parts.metrics.spend.series(model).inc(cost);
      sum += cost;
    }
    return sum;
  }

  /** Counts a failed call. An error that the operator has to correct is also logged, once per hour. */
  upstreamError(model: string, error: UpstreamError): void {
    if (error.code === "cancelled") return;
    const { metrics, clock, logger } = this.#parts;
    metrics.upstreamErrors.inc({ model, code: error.code });
    if (error.fault !== "upstream" || error.hint === undefined) return;
    const key = `${model} ${error.hint}`;
    const now = clock.now();
    if (now - (this.#warnedAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    this.#warnedAt.set(key, now);
    logger.warn({ model, hint: error.hint }, error.message);
  }

  fallback(model: string): void {
    this.#parts.metrics.fallbacks.inc({ model });
  }

  /** `hidden` keeps everything out of the feed that could reveal the model. */
  #write(event: Answered, isKept: boolean | undefined, hidden = false): void {
    this.#parts.log.log(event, isKept);
    this.#parts.feed.publish(event.owner, () => {
      const { decision: id, at, router, slot, status } = event;
      return {
        type: "answer",
        data: { id, at, router, slot, status, ...(hidden ? {} : openFields(event)) },
      };
    });
  }

  #decisionsOf(router: string) {
    const counters = this.#ofRouters.get(router) ?? decisionCounters(this.#parts.metrics, router);
    this.#ofRouters.set(router, counters);
    return counters;
  }

  #metricsOf(model: ServedModel) {
    const metrics = this.#ofModels.get(model) ?? modelMetrics(this.#parts.metrics, model.name);
    this.#ofModels.set(model, metrics);
    return metrics;
  }
}

const REPEAT_MS = 3_600_000;
/** Characters of an error that are stored. */
const LONGEST_ERROR = 500;

/** Members of an answer's event that could reveal the model. */
function openFields(event: Answered) {
  const { model, cost, fallbacks } = event;
  const { inputTokens, outputTokens, latencyMs, firstByteMs } = event;
  return {
    model,
    cost,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    latency_ms: latencyMs,
    first_byte_ms: firstByteMs,
    fallbacks,
    // Clients of version 0.1 read these names.
    inputTokens,
    outputTokens,
    latencyMs,
    firstByteMs,
  };
}

/**
 * Usage and cost of an answer that has ended. The cost is 0 if the price is unknown. `lost` is the
 * cost of earlier attempts of the model, which failed.
 */
export function paidUsage(model: ServedModel, end: AnswerEnd, promptTokens: number) {
  const usage = usageOf(end, promptTokens);
  const cost = model.cost(usage) ?? 0;
  return { usage, cost, lost: model.lostCost(end.lost) };
}

function statusOf({ code }: UpstreamError): "failed" | "cancelled" {
  return code === "cancelled" ? "cancelled" : "failed";
}

function modelMetrics(all: Metrics, model: string) {
  return {
    duration: all.duration.series(model),
    firstByte: all.firstByte.series(model),
    input: all.tokens.series(model, "input"),
    output: all.tokens.series(model, "output"),
    spend: all.spend.series(model),
    answers: {
      ok: all.answers.series(model, "ok"),
      failed: all.answers.series(model, "failed"),
      cancelled: all.answers.series(model, "cancelled"),
    },
  };
}

function decisionCounters({ decisions }: Metrics, router: string) {
  return { duel: decisions.series(router, "duel"), single: decisions.series(router, "single") };
}

function rounded(milliseconds: number): number {
  return Math.round(1000 * milliseconds) / 1000;
}
