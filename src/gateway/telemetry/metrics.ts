import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Clock } from "../clock/clock.ts";
import { type HistogramSeries, SeriesCounter, SeriesHistogram } from "./series.ts";

/**
 * Metrics for Prometheus: numbers for alerts and for the analysis of incidents. Labels come from
 * the configuration and from fixed lists, never from requests.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = this.#counter(
    "joust_requests_total",
    "Responses, by path and status.",
    "endpoint",
    "status",
  );
  readonly unknownPaths = this.#counter(
    "joust_unknown_paths_total",
    "Requests to paths that do not exist: a wrong base URL or method, another API, or anything else.",
    "kind",
  );
  readonly #added = this.#histogram(
    "joust_added_seconds",
    "Time from the last byte of a request to the call of the upstream.",
    FAST,
  );
  readonly #stages = this.#histogram(
    "joust_stage_seconds",
    "Time of each stage before the call of the upstream.",
    FAST,
    "stage",
  );
  readonly firstByte = this.#histogram(
    "joust_upstream_first_byte_seconds",
    "Time from the call of a model to the first byte of its answer.",
    SLOW,
    "model",
  );
  readonly duration = this.#histogram(
    "joust_upstream_seconds",
    "Time from the call of a model to the last byte of its answer.",
    SLOW,
    "model",
  );
  readonly answers = this.#counter(
    "joust_answers_total",
    "Answers of models, by status.",
    "model",
    "status",
  );
  readonly upstreamErrors = this.#counter(
    "joust_upstream_errors_total",
    "Failed calls of models, including those that were retried.",
    "model",
    "code",
  );
  readonly fallbacks = this.#counter(
    "joust_fallbacks_total",
    "Requests that another model answered because this one failed.",
    "model",
  );
  readonly resting = this.#gauge(
    "joust_model_resting",
    "max",
    "1 while a model is not called because it has failed often.",
    "model",
  );
  readonly deploymentResting = this.#gauge(
    "joust_deployment_resting",
    "max",
    "1 while a deployment of a model is not called because it has failed often.",
    "model",
    "deployment",
  );
  readonly deploymentCalls = this.#counter(
    "joust_deployment_calls_total",
    "Calls of the deployments of models that have begun to answer (ok) or failed.",
    "model",
    "deployment",
    "status",
  );
  readonly spend = this.#counter(
    "joust_spend_usd_total",
    "Cost of the answers in US dollars.",
    "model",
  );
  readonly tokens = this.#counter(
    "joust_tokens_total",
    "Tokens of prompts (input) and answers (output).",
    "model",
    "direction",
  );
  readonly decisions = this.#counter(
    "joust_decisions_total",
    "Decisions, by router and kind (single or duel).",
    "router",
    "kind",
  );
  readonly votes = this.#counter(
    "joust_votes_total",
    "Votes, by source and status.",
    "source",
    "status",
  );
  readonly version = this.#gauge(
    "joust_posterior_version",
    "min",
    "Position in the log of the last event that the served posterior has learned from.",
    "router",
  );
  readonly lag = this.#gauge(
    "joust_posterior_lag",
    "max",
    "Number of positions between the newest vote or control and the served posterior.",
    "router",
  );
  readonly guard = this.#gauge(
    "joust_guard_on",
    "max",
    "1 while the guard serves one fixed model because routing has done worse.",
    "router",
  );
  readonly regret = this.#gauge(
    "joust_regret",
    "average",
    "Estimated quality that a request loses to the best model for it.",
    "router",
  );
  readonly savings = this.#gauge(
    "joust_savings_usd",
    "max",
    "Savings of the last 30 days in US dollars, compared with always calling the best model.",
    "router",
  );
  readonly logWaiting = this.#gauge(
    "joust_log_waiting",
    "sum",
    "Events that wait to be written to the store.",
  );
  readonly logDropped = this.#gauge(
    "joust_log_dropped",
    "sum",
    "Decisions and answers since the start that could not be logged.",
  );
  readonly connections = this.#gauge("joust_connections", "sum", "Open connections of clients.");
  readonly connectionsClosed = this.#counter(
    "joust_connections_closed_total",
    "Connections that were closed because there were too many, or because the client did not read.",
    "reason",
  );
  readonly storeUp = this.#gauge(
    "joust_store_up",
    "min",
    "0 while the store cannot be written and votes are refused.",
  );

  readonly added: HistogramSeries = this.#added.series();
  readonly stage: Readonly<Record<Stage, HistogramSeries>> = {
    parse: this.#stages.series("parse"),
    encode: this.#stages.series("encode"),
    decide: this.#stages.series("decide"),
  };

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  #counter<L extends string>(name: string, help: string, ...labelNames: L[]) {
    return new SeriesCounter({ name, help, labelNames, registers: [this.registry] });
  }

  /** `aggregator` says how the values of several processes become one. */
  #gauge<L extends string>(
    name: string,
    aggregator: "sum" | "min" | "max" | "average",
    help: string,
    ...labelNames: L[]
  ) {
    return new Gauge({ name, help, aggregator, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) {
    const registers = [this.registry];
    return new SeriesHistogram({ name, help, labelNames, buckets, registers });
  }
}

/**
 * Metrics of several processes as one text: counters are added up, gauges combined by their
 * aggregator.
 */
export function sumMetrics(processes: readonly unknown[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes] as object[]).metrics();
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

  stage(name: Stage): void {
    this.#ends.push([name, this.#clock.now()]);
  }

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
