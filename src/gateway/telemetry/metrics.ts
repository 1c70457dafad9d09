import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Clock } from "../clock/clock.ts";

/**
 * Metrics for Prometheus: numbers for alerts and for the analysis of incidents. Labels come from
 * the configuration and from fixed lists, never from requests.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: "joust_requests_total",
    help: "Responses, by path and status.",
    labelNames: ["endpoint", "status"] as const,
    registers: [this.registry],
  });
  readonly #added = new Histogram({
    name: "joust_added_seconds",
    help: "Time from the last byte of a request to the call of the upstream.",
    buckets: FAST,
    registers: [this.registry],
  });
  readonly #stages = new Histogram({
    name: "joust_stage_seconds",
    help: "Time of each stage before the call of the upstream.",
    labelNames: ["stage"] as const,
    buckets: FAST,
    registers: [this.registry],
  });
  readonly firstByte = new Histogram({
    name: "joust_upstream_first_byte_seconds",
    help: "Time from the call of a model to the first byte of its answer.",
    labelNames: ["model"] as const,
    buckets: SLOW,
    registers: [this.registry],
  });
  readonly duration = new Histogram({
    name: "joust_upstream_seconds",
    help: "Time from the call of a model to the last byte of its answer.",
    labelNames: ["model"] as const,
    buckets: SLOW,
    registers: [this.registry],
  });
  readonly answers = new Counter({
    name: "joust_answers_total",
    help: "Answers of models, by status.",
    labelNames: ["model", "status"] as const,
    registers: [this.registry],
  });
  readonly upstreamErrors = new Counter({
    name: "joust_upstream_errors_total",
    help: "Failed calls of models, including those that were retried.",
    labelNames: ["model", "code"] as const,
    registers: [this.registry],
  });
  readonly fallbacks = new Counter({
    name: "joust_fallbacks_total",
    help: "Requests that another model answered because this one failed.",
    labelNames: ["model"] as const,
    registers: [this.registry],
  });
  readonly resting = new Gauge({
    name: "joust_model_resting",
    help: "1 while a model is not called because it has failed often.",
    labelNames: ["model"] as const,
    registers: [this.registry],
  });
  readonly spend = new Counter({
    name: "joust_spend_usd_total",
    help: "Cost of the answers in US dollars.",
    labelNames: ["model"] as const,
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: "joust_tokens_total",
    help: "Tokens of prompts (input) and answers (output).",
    labelNames: ["model", "direction"] as const,
    registers: [this.registry],
  });
  readonly decisions = new Counter({
    name: "joust_decisions_total",
    help: "Decisions, by router and kind (single or duel).",
    labelNames: ["router", "kind"] as const,
    registers: [this.registry],
  });
  readonly votes = new Counter({
    name: "joust_votes_total",
    help: "Votes, by source and status.",
    labelNames: ["source", "status"] as const,
    registers: [this.registry],
  });
  readonly version = new Gauge({
    name: "joust_posterior_version",
    help: "Position in the log of the last event that the served posterior has learned from.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly lag = new Gauge({
    name: "joust_posterior_lag",
    help: "Number of positions between the newest vote or control and the served posterior.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly guard = new Gauge({
    name: "joust_guard_on",
    help: "1 while the guard serves one fixed model because routing has done worse.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly regret = new Gauge({
    name: "joust_regret",
    help: "Estimated quality that a request loses to the best model for it.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly savings = new Gauge({
    name: "joust_savings_usd",
    help: "Savings of the last 30 days in US dollars, compared with always calling the best model.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly logWaiting = new Gauge({
    name: "joust_log_waiting",
    help: "Events that wait to be written to the store.",
    registers: [this.registry],
  });
  readonly logDropped = new Gauge({
    name: "joust_log_dropped",
    help: "Decisions and answers since the start that could not be logged.",
    registers: [this.registry],
  });
  readonly storeUp = new Gauge({
    name: "joust_store_up",
    help: "0 while the store cannot be written and votes are refused.",
    registers: [this.registry],
  });

  // Looked up once, because a lookup costs more than counting, even without labels.
  readonly added = this.#added.labels();
  readonly stage = {
    parse: this.#stages.labels("parse"),
    encode: this.#stages.labels("encode"),
    decide: this.#stages.labels("decide"),
  };

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}

const FAST = [25e-6, 50e-6, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.1, 1];
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120];

type Stage = "parse" | "encode" | "decide";

/**
 * Measures the time before a model is called, by stage. `report` passes it to the metrics
 * later, because counting takes time as well.
 */
export class Stopwatch {
  readonly startedAt: number;
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #ends: (readonly [Stage, number])[] = [];
  #calledAt = Number.NaN;

  constructor(clock: Clock, metrics: Metrics) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.startedAt = clock.now();
  }

  /** Marks the end of a stage. */
  stage(name: Stage): void {
    this.#ends.push([name, this.#clock.now()]);
  }

  /** Marks the call of the model. */
  called(): void {
    this.#calledAt = this.#clock.now();
  }

  report(): void {
    const { stage, added } = this.#metrics;
    let last = this.startedAt;
    for (const [name, end] of this.#ends) {
      stage[name].observe((end - last) / 1000);
      last = end;
    }
    added.observe((this.#calledAt - this.startedAt) / 1000);
  }
}
