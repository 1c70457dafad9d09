import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/**
 * What a person would want to be woken by, or to look at when woken. Labels
 * come from the configuration and from fixed lists, never from requests.
 */
export class Metrics {
  readonly registry = new Registry();

  /** By the endpoint's path and the status. */
  readonly requests = new Counter({
    name: "joust_requests_total",
    help: "Requests answered.",
    labelNames: ["endpoint", "status"] as const,
    registers: [this.registry],
  });
  readonly #added = new Histogram({
    name: "joust_added_seconds",
    help: "From a request's last byte to the call of the upstream: what the gateway adds before.",
    buckets: FAST,
    registers: [this.registry],
  });
  readonly #stages = new Histogram({
    name: "joust_stage_seconds",
    help: "Where that time goes.",
    labelNames: ["stage"] as const,
    buckets: FAST,
    registers: [this.registry],
  });
  readonly firstByte = new Histogram({
    name: "joust_upstream_first_byte_seconds",
    help: "From the call of a model to the first byte of its answer.",
    labelNames: ["model"] as const,
    buckets: SLOW,
    registers: [this.registry],
  });
  readonly duration = new Histogram({
    name: "joust_upstream_seconds",
    help: "From the call of a model to the last byte of its answer.",
    labelNames: ["model"] as const,
    buckets: SLOW,
    registers: [this.registry],
  });
  readonly answers = new Counter({
    name: "joust_answers_total",
    help: "Answers of models, by how they ended.",
    labelNames: ["model", "status"] as const,
    registers: [this.registry],
  });
  readonly upstreamErrors = new Counter({
    name: "joust_upstream_errors_total",
    help: "Failed calls of models, retried ones included.",
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
    help: "1 while a model is not asked because it has failed often.",
    labelNames: ["model"] as const,
    registers: [this.registry],
  });
  readonly spend = new Counter({
    name: "joust_spend_usd_total",
    help: "US dollars spent.",
    labelNames: ["model"] as const,
    registers: [this.registry],
  });
  readonly tokens = new Counter({
    name: "joust_tokens_total",
    help: "Tokens read and written.",
    labelNames: ["model", "direction"] as const,
    registers: [this.registry],
  });
  readonly decisions = new Counter({
    name: "joust_decisions_total",
    help: "Requests routed, by whether one model answered or two.",
    labelNames: ["router", "kind"] as const,
    registers: [this.registry],
  });
  readonly votes = new Counter({
    name: "joust_votes_total",
    help: "Votes, by who cast them and what became of them.",
    labelNames: ["source", "status"] as const,
    registers: [this.registry],
  });
  readonly version = new Gauge({
    name: "joust_posterior_version",
    help: "Position in the log of the last event that requests are routed by.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly lag = new Gauge({
    name: "joust_posterior_lag",
    help: "Positions by which the newest vote or change is ahead of it.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly guard = new Gauge({
    name: "joust_guard_on",
    help: "1 while one fixed model is served because routing has done worse.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly regret = new Gauge({
    name: "joust_regret",
    help: "Quality that a request is estimated to lose to the best model for it.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly savings = new Gauge({
    name: "joust_savings_usd",
    help: "US dollars of the last 30 days that always asking the best model would have cost more.",
    labelNames: ["router"] as const,
    registers: [this.registry],
  });
  readonly logWaiting = new Gauge({
    name: "joust_log_waiting",
    help: "Events that wait to be written.",
    registers: [this.registry],
  });
  readonly logDropped = new Gauge({
    name: "joust_log_dropped",
    help: "Decisions and answers that could not be logged, since the start.",
    registers: [this.registry],
  });
  readonly storeUp = new Gauge({
    name: "joust_store_up",
    help: "0 while the store cannot be written; votes are refused then.",
    registers: [this.registry],
  });

  /** Ready to count: to look a label up costs more, none included. */
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
