import type { JobId } from "../jobs/job.ts";
import type { Bench } from "./bench.ts";
import type { BenchEncoder } from "./encoders.ts";
import type { Curve } from "./experiment.ts";
import type { DescribeValue, RunValue } from "./work/specs.ts";

/** What the jobs have found, for figures and claims. */
export class Results {
  readonly bench: Bench;
  readonly #values: ReadonlyMap<JobId, unknown>;
  readonly #speaksOf: (encoder: string) => boolean;

  constructor(
    bench: Bench,
    values: ReadonlyMap<JobId, unknown>,
    speaksOf: (encoder: string) => boolean = () => true,
  ) {
    this.bench = bench;
    this.#values = values;
    this.#speaksOf = speaksOf;
  }

  /** Those of some encoders, and what has none. */
  of(names: readonly string[]): Results {
    return new Results(this.bench, this.#values, (name) => name === "" || names.includes(name));
  }

  get encoders(): readonly BenchEncoder[] {
    return this.bench.encoders.filter(({ name }) => this.#speaksOf(name));
  }

  /** The curves that have all of these attributes. */
  curves(attributes: Partial<Omit<Curve, "runs">>): Curve[] {
    const wanted = Object.entries(attributes);
    return this.bench.curves.filter(
      (curve) =>
        this.#speaksOf(curve.encoder) &&
        wanted.every(([key, value]) => curve[key as keyof Curve] === value),
    );
  }

  /** The curve that differs from this one in these attributes alone. */
  counterpart(curve: Curve, attributes: Partial<Omit<Curve, "runs" | "name">>): Curve | undefined {
    const { runs: _, name: __, ...own } = curve;
    return this.curves({ ...own, ...attributes })[0];
  }

  value<T>(id: JobId): T {
    return this.#values.get(id) as T;
  }

  runs({ runs }: Curve): RunValue[] {
    return runs.map((id) => this.value<RunValue>(id));
  }

  descriptions(ids: readonly JobId[]): DescribeValue[] {
    return ids.map((id) => this.value<DescribeValue>(id));
  }

  /** The last round of a curve. */
  rounds(curve: Curve): number {
    return this.runs(curve)[0]!.t.at(-1)!;
  }

  /** Each run's cumulative regret after `t` rounds, the last unless said; undefined where runs end before. */
  regrets(curve: Curve, t?: number, measure: Measure = "regret"): number[] | undefined {
    const [first] = this.runs(curve);
    const at = t === undefined ? first!.t.length - 1 : first!.t.indexOf(t);
    if (at < 0) return undefined;
    return this.runs(curve).map((run) => run[measure][at]!);
  }

  /** Each run's mean regret a round between two shares of its length. */
  slopes(curve: Curve, from: number, to: number): number[] {
    return this.runs(curve).map(({ t, regret }) => {
      const at = (share: number) => {
        const i = nearest(t, share * t.at(-1)!);
        return i < 0 ? { t: 0, regret: 0 } : { t: t[i]!, regret: regret[i]! };
      };
      const [a, b] = [at(from), at(to)];
      return (b.regret - a.regret) / (b.t - a.t);
    });
  }
}

/** The paper's regret, or regret under Perf - lambda * Cost of the same choices. */
export type Measure = "regret" | "priced";

/** The place of the value nearest to `wanted`; -1 (before the first) where 0 is nearer. */
function nearest(t: readonly number[], wanted: number): number {
  let best = -1;
  for (const [i, value] of t.entries()) {
    if (Math.abs(value - wanted) <= Math.abs((t[best] ?? 0) - wanted)) best = i;
  }
  return best;
}
