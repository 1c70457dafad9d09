import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { MetricsJson } from "./kept-metrics.ts";

/** Metrics of the process that supervises the others. */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly #processes = new Gauge({
    name: "joust_processes",
    help: "Processes that answer requests.",
    registers: [this.#registry],
  });
  readonly #restarts = new Counter({
    name: "joust_process_restarts_total",
    help: "Processes that have ended by themselves and were replaced.",
    registers: [this.#registry],
  });
  readonly #refused = new Counter({
    name: "joust_connections_closed_total",
    help: "Connections that were closed because there were too many, or because the client did not read.",
    labelNames: ["reason"],
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  restarted(): void {
    this.#restarts.inc();
  }

  /** Counts a connection that was refused because there are too many. */
  refused(): void {
    this.#refused.inc({ reason: "too many" });
  }

  async read(processes: number): Promise<MetricsJson> {
    this.#processes.set(processes);
    return this.#registry.getMetricsAsJSON();
  }
}
