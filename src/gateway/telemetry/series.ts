import {
  Counter,
  type CounterConfiguration,
  Histogram,
  type HistogramConfiguration,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from "prom-client";

/**
 * A counter whose series are looked up once. prom-client looks up and checks the labels on every
 * increment, which takes about a microsecond; here that happens when the metrics are read.
 */
export class SeriesCounter<L extends string> extends Counter<L> {
  readonly #series = new Map<string, CounterSeries>();

  constructor(configuration: CounterConfiguration<L>) {
    super(configuration);
  }

  /** The series with these values of the labels. */
  series(...values: string[]): CounterSeries {
    const key = values.join("\n");
    const known = this.#series.get(key);
    if (known) return known;
    const series = new CounterSeries((by) => this.labels(...values).inc(by));
    this.#series.set(key, series);
    return series;
  }

  override get() {
    for (const series of this.#series.values()) series.flush();
    return super.get();
  }
}

class CounterSeries {
  readonly #add: (value: number) => void;
  #waiting: number | undefined;

  constructor(add: (value: number) => void) {
    this.#add = add;
  }

  inc(by = 1): void {
    this.#waiting = (this.#waiting ?? 0) + by;
  }

  flush(): void {
    if (this.#waiting !== undefined) this.#add(this.#waiting);
    this.#waiting = undefined;
  }
}

/** A histogram whose series are looked up once and keep their own counts, for the same reason. */
export class SeriesHistogram<L extends string> extends Histogram<L> {
  readonly #name: string;
  readonly #help: string;
  readonly #labelNames: readonly L[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, HistogramSeries>();

  constructor(configuration: HistogramConfiguration<L> & { readonly buckets: number[] }) {
    super(configuration);
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#labelNames = configuration.labelNames ?? [];
    this.#bounds = configuration.buckets;
  }

  /** The series with these values of the labels. */
  series(...values: string[]): HistogramSeries {
    const key = values.join("\n");
    const known = this.#series.get(key);
    if (known) return known;
    const labels = Object.fromEntries(this.#labelNames.map((name, i) => [name, values[i]!]));
    const series = new HistogramSeries(labels, this.#bounds);
    this.#series.set(key, series);
    return series;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<L>>> {
    const values = [...this.#series.values()].flatMap((series) => series.values(this.#name));
    const metric = { name: this.#name, help: this.#help, type: "histogram", aggregator: "sum" };
    return { ...metric, values } as unknown as MetricObjectWithValues<MetricValueWithName<L>>;
  }

  /** The method that a registry calls to print a histogram. */
  getForPromString() {
    return this.get();
  }
}

export class HistogramSeries {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length);
  }

  observe(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`a histogram cannot count ${value}`);
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    if (i < bounds.length) this.#counts[i]!++;
    this.#sum += value;
    this.#count++;
  }

  /** The values as Prometheus reads them: each bucket counts the smaller values too. */
  values(name: string) {
    const labels = this.#labels;
    if (this.#count === 0 && Object.keys(labels).length > 0) return [];
    let below = 0;
    const buckets = this.#bounds.map((le, i) => {
      below += this.#counts[i]!;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: this.#count },
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: this.#count },
    ];
  }
}
