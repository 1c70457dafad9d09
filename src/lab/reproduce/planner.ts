import { stableJson } from "../jobs/hash.ts";
import type { JobId } from "../jobs/job.ts";
import { Plan } from "../jobs/plan.ts";
import type { Curve } from "./curve.ts";
import type { DataSets } from "./data-sets.ts";
import type { FoundEncoder } from "./encoders.ts";
import type {
  DataSpec,
  DescribeSpec,
  EmbedSpec,
  ExamplesSpec,
  FitSpec,
  LinearSpec,
  ProjectSpec,
  RunSpec,
} from "./jobs/specs.ts";

/** Numbers of runs of each curve. */
export interface Runs {
  readonly runs: number;
  /** Experiments that have another number of runs. */
  readonly runsOf?: Readonly<Record<string, number>> | undefined;
}

/** The amount of work. */
export interface Size extends Runs {
  /** Vote scales. */
  readonly scales: readonly number[];
  /** Rounds of the longest curves and of the others. */
  readonly long: number;
  readonly short: number;
  readonly quick: boolean;
}

/** `5`, or `3; 5 of routerbench` if an experiment has another number of runs. */
export function runsText({ runs, runsOf = {} }: Runs): string {
  const others = Object.entries(runsOf).map(([name, own]) => `; ${own} of ${name}`);
  return `${runs}${others.join("")}`;
}

/** The smallest number of runs of an experiment. */
export function leastRuns({ runs, runsOf = {} }: Runs): number {
  return Math.min(runs, ...Object.values(runsOf));
}

export const FULL = {
  runs: 20,
  runsOf: { convergence: 100 },
  scales: [1, 3, 10],
  long: 3000,
  short: 720,
  quick: false,
} as const satisfies Size;
export const QUICK: Size = { runs: 3, scales: [10], long: 160, short: 160, quick: true };

/** The jobs that describe an experiment's queries in the vectors of an encoder, one per run. */
interface Description {
  readonly experiment: string;
  readonly encoder: string;
  readonly epochs: number;
  readonly runs: readonly JobId[];
}

/** Kinds of jobs whose results are read by other jobs only, never by the report. */
export const INTERNAL_KINDS: readonly string[] = ["embed", "examples", "fit"];

/** Collects the jobs and curves that the experiments plan. */
export class Planner {
  readonly plan = new Plan();
  readonly curves: Curve[] = [];
  readonly descriptions: Description[] = [];
  /** Number of offline queries of a curve, by its first run. Fewer if a label has too few queries. */
  readonly offlineQueries = new Map<JobId, number>();
  /** Numbers about the data that claims use. */
  readonly facts = new Map<string, number>();
  readonly data: DataSets;
  readonly encoders: readonly FoundEncoder[];
  readonly size: Size;
  readonly seed: number;
  readonly #known = new Map<string, Curve>();

  constructor(data: DataSets, encoders: readonly FoundEncoder[], size: Size, seed: number) {
    this.data = data;
    this.encoders = encoders;
    this.size = size;
    this.seed = seed;
  }

  /** Number of runs of each curve of an experiment. */
  runsOf(experiment: string): number {
    return this.size.runsOf?.[experiment] ?? this.size.runs;
  }

  /** 0 .. runs-1 */
  runs(experiment: string): number[] {
    return Array.from({ length: this.runsOf(experiment) }, (_, run) => run);
  }

  /** The encoder with the longest curves and most variants: the first that can be fine-tuned. */
  get main(): FoundEncoder {
    return this.encoders.find(({ epochs }) => epochs.length > 0) ?? this.encoders[0]!;
  }

  load(spec: DataSpec): JobId {
    const label = `load ${spec.files.map(({ name }) => name).join(", ")}`;
    return this.plan.add("data", spec, { label, seconds: 1 });
  }

  /** `count` is the number of texts. */
  embed(encoder: FoundEncoder, texts: EmbedSpec["texts"], count: number, label: string): JobId {
    const spec: EmbedSpec = { encoder: encoder.ref, texts };
    const seconds = count * SECONDS_PER_TEXT[encoder.kind] * slownessOf(encoder);
    return this.plan.add("embed", spec, { label: `embed ${encoder.name}, ${label}`, seconds });
  }

  /** `count` texts are embedded after training on `pairs`. */
  fit(
    encoder: FoundEncoder,
    epochs: number,
    examples: ExamplesSpec,
    { pairs, count, label }: { pairs: number; count: number; label: string },
  ): JobId {
    const { kind, name, ref } = encoder;
    const steps = epochs * Math.ceil(pairs / 16);
    const seconds =
      (steps * SECONDS_PER_STEP[kind] + count * SECONDS_PER_TEXT[kind]) * slownessOf(encoder);
    const spec: FitSpec = {
      encoder: ref,
      examples: this.plan.add("examples", examples, { label: `examples, ${label}`, seconds: 1 }),
      epochs,
    };
    return this.plan.add("fit", spec, { label: `fit ${name} E${epochs}, ${label}`, seconds });
  }

  /** Plans one job per run. Two figures may show the same curve, which claims must count once. */
  curve(
    head: Omit<Curve, "runs">,
    specOf: (run: number) => Omit<RunSpec, "voteScale" | "price">,
    size: WorkSize & { readonly offline: number; readonly runs?: number | undefined },
  ): Curve {
    const count = size.runs ?? this.runsOf(head.experiment);
    const runs = Array.from({ length: count }, (_, run) => {
      const spec: RunSpec = { ...specOf(run), voteScale: head.voteScale, price: PRICE };
      const label = `${head.experiment}: ${head.name}, run ${run + 1}`;
      return this.plan.add("run", spec, { label, seconds: secondsOf(spec.policy, size) });
    });
    this.offlineQueries.set(runs[0]!, size.offline);
    const curve = { ...head, runs };
    const key = stableJson(curve);
    const known = this.#known.get(key);
    if (known) return known;
    this.#known.set(key, curve);
    this.curves.push(curve);
    return curve;
  }

  describe(spec: DescribeSpec, label: string): JobId {
    return this.plan.add("describe", spec, { label: `describe ${label}`, seconds: 1 });
  }

  project(spec: ProjectSpec, label: string): JobId {
    return this.plan.add("project", spec, { label: `t-SNE, ${label}`, seconds: 8 });
  }

  linear(spec: LinearSpec): JobId {
    const { dimension, run, policy } = spec;
    const label = `linear world d=${dimension}: ${policy.kind}, run ${run + 1}`;
    return this.plan.add("linear", spec, { label, seconds: secondsOf(policy, spec) });
  }
}

/** lambda in the paper's Perf - lambda * Cost. */
export const PRICE = 0.05;

/** Estimates, measured on one core of a shared machine. They only order the jobs and show the time left. */
const SECONDS_PER_TEXT = { hash: 2e-4, static: 2e-4, transformer: 0.02, openai: 0.005 };
const SECONDS_PER_STEP = { hash: 0, static: 0.004, transformer: 1.3, openai: 0 };
const SECONDS_PER_FEATURE = 3.1e-7;
/** Features that are not products are stored and multiplied one by one. */
const STORED = 5;
/** best-theta: seconds per query and feature. */
const SECONDS_PER_FIT = 3e-7;

/** Slowness of a transformer relative to MiniLM: wider layers, and twice as many. */
function slownessOf({ kind, dimension }: FoundEncoder): number {
  return kind === "transformer" ? (dimension / 384) ** 3 : 1;
}

interface WorkSize {
  readonly rounds: number;
  readonly models: number;
  readonly dimension: number;
}

function secondsOf(
  { kind, options }: RunSpec["policy"],
  { rounds, models, dimension }: WorkSize,
): number {
  const work = rounds * models * dimension;
  if (kind === "best-theta") return work * SECONDS_PER_FIT;
  if (kind !== "fgts-cdb") return 0.2 + rounds * 4e-4;
  const { features = "hadamard" } = options;
  if (features === "category") return 0.2 + rounds * 1e-3;
  return 0.2 + work * SECONDS_PER_FEATURE * (features === "hadamard" ? 1 : STORED);
}
