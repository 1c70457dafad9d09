import { type Decision, isDuel } from "../../store/decision.ts";
import type { Answered } from "../../store/events.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Spending } from "../access/spending.ts";
import type { Clock } from "../clock/clock.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import type { AnswerEnd } from "../providers/upstream/upstream.ts";
import { type Usage, usageOf } from "../providers/upstream/usage.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Feed } from "./feed.ts";

/** Who was asked, for what. */
export interface Asked {
  readonly router: string;
  readonly decision: string;
  readonly slot: number;
  readonly owner: string | undefined;
  /** Estimated, for answers that tell no usage. */
  readonly promptTokens: number;
}

export interface Fallback {
  readonly model: string;
  readonly reason: string;
}

/** Requests to a model by its own name are no router's; their cost is logged all the same. */
export const DIRECT = "(direct)";

/** Writes down what was decided and what became of it: log, budget, metrics, feed. */
export class Recorder {
  readonly #log: GroupCommit;
  readonly #spending: Spending;
  readonly #metrics: Metrics;
  readonly #feed: Feed;
  readonly #clock: Clock;
  // Counters are kept: looking a label up costs more than counting.
  readonly #ofModels = new WeakMap<ServedModel, ModelMetrics>();
  readonly #ofRouters = new Map<string, DecisionCounters>();

  constructor(log: GroupCommit, spending: Spending, metrics: Metrics, feed: Feed, clock: Clock) {
    this.#log = log;
    this.#spending = spending;
    this.#metrics = metrics;
    this.#feed = feed;
    this.#clock = clock;
  }

  routed(event: Decision): void {
    const duel = isDuel(event);
    this.#log.log(event);
    this.#decisionsOf(event.router)[duel ? "duel" : "single"].inc();
    this.#feed.tell(event.owner, () => ({
      type: "decision",
      data: {
        id: event.id,
        at: event.at,
        router: event.router,
        duel,
        // The names of a duel are hidden until the vote.
        ...(duel ? {} : { model: event.pair[0] }),
        version: event.version,
        categories: event.reasons?.categories,
      },
    }));
  }

  /** An answer is over; returns what it has cost, as far as one knows. */
  answered(
    asked: Asked,
    model: ServedModel,
    end: AnswerEnd,
    fallbacks: readonly Fallback[],
    hidden = false,
  ): number {
    const usage = usageOf(end, asked.promptTokens);
    const cost = model.cost(usage) ?? 0;
    model.note(end.usage);
    const status =
      end.error === undefined ? "ok" : end.error.code === "cancelled" ? "cancelled" : "failed";
    const metrics = this.#metricsOf(model);
    metrics.duration((end.endedAt - end.sentAt) / 1000);
    if (!Number.isNaN(end.firstByteAt)) metrics.firstByte((end.firstByteAt - end.sentAt) / 1000);
    metrics.tokens(usage);
    metrics.ended(status, cost);
    if (end.error && status === "failed") this.upstreamError(model.name, end.error);
    this.#write(
      {
        ...this.#head(asked),
        model: model.name,
        status,
        inputTokens: usage.promptTokens,
        outputTokens: usage.completionTokens,
        cost,
        latencyMs: rounded(end.endedAt - end.sentAt),
        firstByteMs: Number.isNaN(end.firstByteAt)
          ? undefined
          : rounded(end.firstByteAt - end.sentAt),
        fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
      },
      hidden,
    );
    return cost;
  }

  /** Nobody has answered. */
  failed(
    asked: Asked,
    model: string,
    error: UpstreamError,
    startedAt: number,
    fallbacks: readonly Fallback[],
  ): void {
    const status = error.code === "cancelled" ? "cancelled" : "failed";
    this.#metrics.answers.inc({ model, status });
    this.#write({
      ...this.#head(asked),
      model,
      status,
      inputTokens: 0,
      outputTokens: 0,
      cost: 0,
      latencyMs: rounded(this.#clock.now() - startedAt),
      fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
    });
  }

  upstreamError(model: string, error: UpstreamError): void {
    if (error.code !== "cancelled") {
      this.#metrics.upstreamErrors.inc({ model, code: error.code });
    }
  }

  fallback(model: string): void {
    this.#metrics.fallbacks.inc({ model });
  }

  #head({ router, decision, slot, owner }: Asked) {
    return { kind: "answered", router, decision, slot, owner, at: this.#clock.date() } as const;
  }

  #write(event: Answered, hidden = false): void {
    this.#log.log(event);
    if (event.owner !== undefined) this.#spending.add(event.owner, event.cost);
    this.#feed.tell(event.owner, () => {
      const { decision: id, at, router, slot, status, latencyMs, firstByteMs } = event;
      const { model, cost, inputTokens, outputTokens, fallbacks } = event;
      const open = { model, cost, inputTokens, outputTokens, latencyMs, firstByteMs, fallbacks };
      return { type: "answer", data: { id, at, router, slot, status, ...(hidden ? {} : open) } };
    });
  }

  #decisionsOf(router: string): DecisionCounters {
    const { decisions } = this.#metrics;
    const counters = this.#ofRouters.get(router) ?? {
      duel: decisions.labels(router, "duel"),
      single: decisions.labels(router, "single"),
    };
    this.#ofRouters.set(router, counters);
    return counters;
  }

  #metricsOf(model: ServedModel): ModelMetrics {
    const metrics = this.#ofModels.get(model) ?? modelMetrics(this.#metrics, model.name);
    this.#ofModels.set(model, metrics);
    return metrics;
  }
}

interface DecisionCounters {
  readonly duel: { inc(): void };
  readonly single: { inc(): void };
}

interface ModelMetrics {
  duration(seconds: number): void;
  firstByte(seconds: number): void;
  tokens(usage: Usage): void;
  ended(status: "ok" | "failed" | "cancelled", cost: number): void;
}

function modelMetrics(all: Metrics, model: string): ModelMetrics {
  const duration = all.duration.labels(model);
  const firstByte = all.firstByte.labels(model);
  const input = all.tokens.labels(model, "input");
  const output = all.tokens.labels(model, "output");
  const spend = all.spend.labels(model);
  const answers = {
    ok: all.answers.labels(model, "ok"),
    failed: all.answers.labels(model, "failed"),
    cancelled: all.answers.labels(model, "cancelled"),
  };
  return {
    duration: (seconds) => duration.observe(seconds),
    firstByte: (seconds) => firstByte.observe(seconds),
    tokens: (usage) => {
      input.inc(usage.promptTokens);
      output.inc(usage.completionTokens);
    },
    ended: (status, cost) => {
      answers[status].inc();
      spend.inc(cost);
    },
  };
}

function rounded(milliseconds: number): number {
  return Math.round(1000 * milliseconds) / 1000;
}
