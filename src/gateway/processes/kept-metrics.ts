import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** Metrics of a process, as prom-client's registry returns them. */
export type MetricsJson = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * The last known metrics of each process. The counters of a process that has ended are kept,
 * because a sum of counters must not go down. Its gauges are forgotten.
 */
export class KeptMetrics {
  readonly #running = new Map<string, MetricsJson>();
  /** Counters of processes that have ended, by name of the metric and by labels. */
  readonly #ended = new Map<string, Map<string, MetricValue<string>>>();
  readonly #heads = new Map<string, MetricObjectWithValues<MetricValue<string>>>();

  set(process: string, metrics: MetricsJson): void {
    this.#running.set(process, metrics);
  }

  end(process: string): void {
    const last = this.#running.get(process) ?? [];
    this.#running.delete(process);
    for (const metric of last) {
      // prom-client has names of types here, not the numbers that its declarations promise.
      const type: unknown = metric.type;
      if (type === "counter" || type === "histogram") this.#add(metric);
    }
  }

  get all(): MetricsJson[] {
    const ended = [...this.#heads].map(([name, head]) => ({
      ...head,
      values: [...this.#ended.get(name)!.values()],
    }));
    return [...this.#running.values(), ...(ended.length > 0 ? [ended] : [])];
  }

  #add(metric: MetricObjectWithValues<MetricValue<string>>): void {
    this.#heads.set(metric.name, metric);
    const sums = this.#ended.get(metric.name) ?? new Map<string, MetricValue<string>>();
    this.#ended.set(metric.name, sums);
    for (const value of metric.values) {
      const key = JSON.stringify({ ...value, value: 0 });
      sums.set(key, { ...value, value: value.value + (sums.get(key)?.value ?? 0) });
    }
  }
}
