import type { JobId } from "../jobs/job.ts";
import type { Curve } from "./curve.ts";
import type { FoundEncoder } from "./encoders.ts";
import { laterName } from "./jobs/draw.ts";
import type { DescribeValue, RunSpec, RunValue } from "./jobs/specs.ts";
import type { Planner } from "./planner.ts";

/** Names of a data set, in the order in which jobs count its models and categories. */
export interface DataNames {
  readonly models: readonly string[];
  readonly categories: readonly string[];
}

/** Number of answers of a model to the queries of a category, in the last third of a run. */
export interface Choice {
  readonly category: string;
  readonly model: string;
  readonly count: number;
}

/** The values of the jobs, for figures and claims. */
export class Results {
  readonly planner: Planner;
  readonly #values: ReadonlyMap<JobId, unknown>;
  readonly #includes: (encoder: string) => boolean;

  constructor(
    planner: Planner,
    values: ReadonlyMap<JobId, unknown>,
    includes: (encoder: string) => boolean = () => true,
  ) {
    this.planner = planner;
    this.#values = values;
    this.#includes = includes;
  }

  /** The results of some encoders, and those without an encoder. */
  of(names: readonly string[]): Results {
    return new Results(this.planner, this.#values, (name) => name === "" || names.includes(name));
  }

  get encoders(): readonly FoundEncoder[] {
    return this.planner.encoders.filter(({ name }) => this.#includes(name));
  }

  /** The curves that have all of these attributes. */
  curves(attributes: Partial<Omit<Curve, "runs">>): Curve[] {
    const wanted = Object.entries(attributes);
    return this.planner.curves.filter(
      (curve) =>
        this.#includes(curve.encoder) &&
        wanted.every(([key, value]) => curve[key as keyof Curve] === value),
    );
  }

  /** The curve that differs from this one in these attributes only. */
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

  /** The answers of each run by category and model. */
  choices({ runs }: Curve): Choice[][] {
    return runs.map((id) => {
      const { draw } = this.planner.plan.find(id).spec as RunSpec;
      const { models, categories } = this.value<DataNames>(draw.data);
      const names = draw.change ? [...categories, ...categories.map(laterName)] : categories;
      const counts = this.value<RunValue>(id).choices;
      return names.flatMap((category, m) =>
        models.map((model, k) => ({ category, model, count: counts[m]![k]! })),
      );
    });
  }

  descriptions(ids: readonly JobId[]): DescribeValue[] {
    return ids.map((id) => this.value<DescribeValue>(id));
  }

  /** The last round of a curve. */
  rounds(curve: Curve): number {
    return this.runs(curve)[0]!.t.at(-1)!;
  }

  /** Each run's cumulative regret after `t` rounds, by default all; undefined if the runs are shorter. */
  regrets(curve: Curve, t?: number, measure: Measure = "regret"): number[] | undefined {
    const [first] = this.runs(curve);
    const at = t === undefined ? first!.t.length - 1 : first!.t.indexOf(t);
    if (at < 0) return undefined;
    return this.runs(curve).map((run) => run[measure][at]!);
  }

  /** Each run's mean regret per round between two shares of its length. */
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

/** The paper's regret, or the regret of the same choices under Perf - lambda * Cost. */
export type Measure = "regret" | "priced";

/** Index of the value nearest to `wanted`; -1 if 0, which precedes the first value, is nearer. */
function nearest(t: readonly number[], wanted: number): number {
  let best = -1;
  for (const [i, value] of t.entries()) {
    if (Math.abs(value - wanted) <= Math.abs((t[best] ?? 0) - wanted)) best = i;
  }
  return best;
}
