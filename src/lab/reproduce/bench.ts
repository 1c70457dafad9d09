import type { Options } from "../../core/bandit/policy.ts";
import { stableJson } from "../jobs/hash.ts";
import type { JobId } from "../jobs/job.ts";
import { Plan } from "../jobs/plan.ts";
import type { DataSets } from "./data-sets.ts";
import type { BenchEncoder } from "./encoders.ts";
import type { Curve } from "./experiment.ts";
import type {
  DescribeSpec,
  EmbedSpec,
  FitSpec,
  LinearSpec,
  ProjectSpec,
  RunSpec,
  TextsSpec,
} from "./work/specs.ts";

/** How much is run. */
export interface Size {
  readonly runs: number;
  /** Vote scales. */
  readonly scales: readonly number[];
  /** T of the curves that are followed longest, and of the others. */
  readonly long: number;
  readonly short: number;
  readonly quick: boolean;
}

export const FULL: Size = { runs: 5, scales: [1, 3, 10], long: 3000, short: 720, quick: false };
export const QUICK: Size = { runs: 3, scales: [10], long: 160, short: 160, quick: true };

/** How an encoder sees an experiment's queries, run by run. */
export interface Description {
  readonly experiment: string;
  readonly encoder: string;
  readonly epochs: number;
  readonly runs: readonly JobId[];
}

/** Everything of a curve but its runs. */
export type CurveHead = Omit<Curve, "runs">;

/** Where experiments plan their jobs. */
export class Bench {
  readonly plan = new Plan();
  readonly curves: Curve[] = [];
  readonly #lines = new Map<string, Curve>();
  readonly descriptions: Description[] = [];
  /** How many offline queries there are in all, by a curve's first run; where a label has too few, less. */
  readonly offline = new Map<JobId, number>();
  /** What planning has found out about the data, for claims. */
  readonly facts = new Map<string, number>();
  readonly data: DataSets;
  readonly encoders: readonly BenchEncoder[];
  readonly size: Size;
  readonly seed: number;

  constructor(data: DataSets, encoders: readonly BenchEncoder[], size: Size, seed: number) {
    this.data = data;
    this.encoders = encoders;
    this.size = size;
    this.seed = seed;
  }

  /** 0 .. runs-1 */
  get runs(): number[] {
    return Array.from({ length: this.size.runs }, (_, run) => run);
  }

  /** The encoder whose curves are followed longest and varied most: the first that can be trained. */
  get main(): BenchEncoder {
    return this.encoders.find(({ epochs }) => epochs.length > 0) ?? this.encoders[0]!;
  }

  embed(encoder: BenchEncoder, texts: readonly TextsSpec[], count: number, label: string): JobId {
    const spec: EmbedSpec = { encoder: encoder.ref, texts };
    const seconds = count * SECONDS_A_TEXT[encoder.kind] * weight(encoder);
    return this.plan.add(
      { kind: "embed", spec, needs: needsOf(texts) },
      { label: `embed ${encoder.name}, ${label}`, seconds },
    );
  }

  /** `count` texts are embedded when the encoder is trained on `pairs`. */
  fit(
    encoder: BenchEncoder,
    spec: Omit<FitSpec, "encoder">,
    { pairs, count, label }: { pairs: number; count: number; label: string },
  ): JobId {
    const steps = spec.epochs * Math.ceil(pairs / 16);
    const { kind } = encoder;
    const seconds = (steps * SECONDS_A_STEP[kind] + count * SECONDS_A_TEXT[kind]) * weight(encoder);
    const needs = needsOf([...spec.texts, { of: "stream", draw: spec.draw, stream: ANY_STREAM }]);
    return this.plan.add(
      { kind: "fit", spec: { ...spec, encoder: encoder.ref } satisfies FitSpec, needs },
      { label: `fit ${encoder.name} E${spec.epochs}, ${label}`, seconds },
    );
  }

  /** One run job for each run of a curve. `rounds`, `models` and `dimension` say how long it takes, `offline` counts queries. */
  curve(
    head: CurveHead,
    specOf: (run: number) => Omit<RunSpec, "voteScale" | "price">,
    size: {
      readonly rounds: number;
      readonly models: number;
      readonly dimension: number;
      readonly offline: number;
    },
  ): Curve {
    const runs = this.runs.map((run) => {
      const spec: RunSpec = { ...specOf(run), voteScale: head.voteScale, price: PRICE };
      const needs = [...spec.vectors, ...needsOf([{ of: "data", data: spec.draw.data }])];
      return this.plan.add(
        { kind: "run", spec, needs },
        {
          label: `${head.experiment}: ${head.name}, run ${run + 1}`,
          seconds: secondsOf(spec, size),
        },
      );
    });
    this.offline.set(runs[0]!, size.offline);
    // Two figures may ask for the same line, which claims are to count once.
    const key = stableJson({ ...head, runs });
    const known = this.#lines.get(key);
    if (known) return known;
    const curve = { ...head, runs };
    this.#lines.set(key, curve);
    this.curves.push(curve);
    return curve;
  }

  describe(spec: DescribeSpec, label: string): JobId {
    const needs = [...spec.vectors, ...needsOf([{ of: "data", data: spec.draw.data }])];
    return this.plan.add(
      { kind: "describe", spec, needs },
      { label: `describe ${label}`, seconds: 1 },
    );
  }

  project(spec: ProjectSpec, label: string): JobId {
    const needs = [...spec.vectors, ...needsOf([{ of: "data", data: spec.data }])];
    return this.plan.add(
      { kind: "project", spec, needs },
      { label: `t-SNE, ${label}`, seconds: 8 },
    );
  }

  linear(spec: LinearSpec): JobId {
    const { dimension, run, policy } = spec;
    return this.plan.add(
      { kind: "linear", spec, needs: [] },
      {
        label: `linear world d=${dimension}: ${policy.kind}, run ${run + 1}`,
        seconds: secondsOf(spec, spec),
      },
    );
  }
}

/** lambda of the paper's Perf - lambda * Cost. */
export const PRICE = 0.05;

const ANY_STREAM = { rounds: 1, stream: "uniform" } as const;

/** The jobs whose vectors decide what is true in the data. */
function needsOf(texts: readonly TextsSpec[]): JobId[] {
  const found = texts.map((spec) => (spec.of === "data" ? spec.data : spec.draw.data).experts);
  return [...new Set(found.filter((id) => id !== undefined))];
}

/** Measured on one core of a shared machine; only for the time left. */
const SECONDS_A_TEXT = { hash: 2e-4, static: 2e-4, transformer: 0.02, openai: 0.005 };
const SECONDS_A_STEP = { hash: 0, static: 0.004, transformer: 1.8, openai: 0 };
/** How much slower a transformer is than MiniLM: wider layers, and twice as many. */
function weight({ kind, dimension }: BenchEncoder): number {
  return kind === "transformer" ? (dimension / 384) ** 3 : 1;
}
/** FGTS.CDB, a round, a model, a dimension; features that are stored take longer. */
const SECONDS_A_FEATURE = 1.4e-6;
const STORED = 1.6;

function secondsOf(
  { policy }: Pick<RunSpec, "policy">,
  { rounds, models, dimension }: { rounds: number; models: number; dimension: number },
): number {
  const { metadata = "none", features = "hadamard" } = policy.options;
  if (policy.kind !== "fgts-cdb") return 0.2 + rounds * 4e-4;
  const slower = metadata !== "none" || features !== "hadamard" ? STORED : 1;
  return 0.2 + rounds * models * dimension * SECONDS_A_FEATURE * slower;
}

/** FGTS.CDB as the paper has it, on model embeddings made in advance. */
export function fgts(options: Options = {}): RunSpec["policy"] {
  return { kind: "fgts-cdb", options: { weighting: "fitted", ...options } };
}

/** Pairs that n queries in each of m categories give. */
export function pairCount(m: number, n: number): number {
  return m * n * (n - 1);
}
