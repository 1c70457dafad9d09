import type { WeightingSettings } from "../../core/calibrate/models.ts";
import type { JobId } from "../jobs/job.ts";
import { type Bench, fgts, PRICE, pairCount } from "./bench.ts";
import type { BenchEncoder } from "./encoders.ts";
import type { Curve, Group } from "./experiment.ts";
import type {
  DataSpec,
  DrawSpec,
  PromptSpec,
  RunSpec,
  StreamSpec,
  TextsSpec,
  ToldSpec,
} from "./work/specs.ts";

/** What all curves of a scene share: queries, truth, offline draws and stream. */
export interface SceneOptions {
  readonly experiment: string;
  readonly form: string;
  readonly data: DataSpec;
  /** What an encoder that is not tuned embeds once for all runs; the queries of `data` unless said. */
  readonly texts?: DataSpec;
  readonly offline: number;
  readonly offlineAmbiguous?: number;
  readonly change?: boolean;
  /** The stream of a run of so many rounds. */
  streamOf(rounds: number): StreamSpec;
  /** About how many models and queries there are, and categories to tell of: for the time it takes. */
  readonly models: number;
  readonly queries: number;
  readonly categories: number;
  /** Vectors come from this scene, whose offline queries are the same and which streams all that this one does. */
  readonly vectorsOf?: Scene;
}

/** An encoder as a curve uses it: tuned or not, on which categories, for runs of which length. */
export interface Look {
  readonly encoder: BenchEncoder;
  /** 0: as it was. */
  readonly epochs: number;
  readonly rounds: number;
  /** Told of and tuned on; all unless said. */
  readonly categories?: readonly string[] | undefined;
}

export interface LineOptions {
  readonly look: Look;
  readonly group: Group;
  readonly voteScale: number;
  readonly models: ToldSpec["models"];
  readonly policy?: RunSpec["policy"];
  readonly variant?: string;
  /** The utility is score - lambda * cost. */
  readonly lambda?: number;
  readonly name?: string;
  /** As the name says it, where it is not `look.epochs`: a control group bears its counterpart's. */
  readonly epochs?: number;
  readonly examples?: number;
  /** Fewer than the look's, whose vectors serve for both. */
  readonly rounds?: number;
}

export class Scene {
  readonly bench: Bench;
  readonly options: SceneOptions;

  constructor(bench: Bench, options: SceneOptions) {
    this.bench = bench;
    this.options = options;
  }

  draw(run: number): DrawSpec {
    const { data, offline, offlineAmbiguous, change } = this.options;
    const { seed } = this.bench;
    return {
      data,
      offline,
      ...(offlineAmbiguous !== undefined && { offlineAmbiguous }),
      ...(change && { change }),
      seed,
      run,
    };
  }

  /** The job with the vectors of run `run`. */
  vectors(look: Look, run: number): JobId {
    const { vectorsOf, experiment, form, queries, offline } = this.options;
    if (vectorsOf) return vectorsOf.vectors(look, run);
    const { encoder, epochs, rounds, categories } = look;
    const label = `${experiment} (${form})`;
    if (epochs === 0) return this.bench.embed(encoder, [this.allTexts()], queries, label);
    const draw = this.draw(run);
    const stream = this.options.streamOf(rounds);
    const told = categories?.length ?? this.options.categories;
    return this.bench.fit(
      encoder,
      { draw, epochs, texts: [{ of: "stream", draw, stream }], ...(categories && { categories }) },
      {
        pairs: pairCount(told, offline),
        count: Math.min(queries, rounds) + told * offline,
        label: `${label}, run ${run + 1}`,
      },
    );
  }

  /** Every query, whatever is true of the models. */
  allTexts(): TextsSpec {
    const { files, categories } = this.options.texts ?? this.options.data;
    return { of: "data", data: { files, ...(categories && { categories }) } };
  }

  line(options: LineOptions): Curve {
    const { look, group, voteScale, models, variant = "", lambda = 0, examples = 0 } = options;
    const { experiment, form } = this.options;
    const { encoder, categories } = look;
    const { rounds = look.rounds } = options;
    const offline = this.options.offline * this.options.categories;
    const policy = options.policy ?? fgts();
    const epochs = options.epochs ?? look.epochs;
    const weighting = typeof models === "object" && "weighting" in models ? models.weighting : "";
    const head = {
      experiment,
      form,
      voteScale,
      variant,
      group,
      examples,
      epochs,
      encoder: encoder.name,
      weighting: models === "means" ? "means" : weighting,
      policy: policy.kind,
    };
    const prompt = typeof models === "object" && "listing" in models ? models : undefined;
    return this.bench.curve(
      { ...head, name: options.name ?? nameOf(head) },
      (run) => ({
        draw: this.draw(run),
        told: { models, ...(categories && { categories }) },
        vectors: [this.vectors(look, run), ...(prompt ? [this.prompts(look, prompt, run)] : [])],
        policy,
        stream: this.options.streamOf(rounds),
        lambda,
      }),
      { rounds, models: this.options.models, dimension: encoder.dimension, offline },
    );
  }

  /** Models embedded by prompts about them, with example queries. */
  promptLine(
    prompt: PromptSpec,
    options: Omit<LineOptions, "group" | "models" | "examples">,
  ): Curve {
    const { examples } = prompt;
    return this.line({ ...options, group: "prompt", models: prompt, examples });
  }

  prompts(look: Look, prompt: PromptSpec, run: number): JobId {
    const { experiment, form, models, vectorsOf } = this.options;
    if (vectorsOf) return vectorsOf.prompts(look, prompt, run);
    const { encoder, categories } = look;
    const label = `${experiment} (${form}) prompts, run ${run + 1}`;
    const draw = this.draw(run);
    const texts: TextsSpec = { of: "prompts", draw, prompt, ...(categories && { categories }) };
    return this.bench.embed(encoder, [texts], 4 * models, label);
  }

  /** The lines that every figure has, on the vectors of the figure's encoder where they look at any. */
  baselines(
    look: Look,
    models: ToldSpec["models"],
    voteScale: number,
    rest: Partial<LineOptions> & { readonly original?: Look } = {},
  ): Curve[] {
    const { original = { ...look, epochs: 0, categories: undefined }, ...options } = rest;
    return BASELINES.map((kind) =>
      this.line({
        look: BLIND.includes(kind) ? original : look,
        group: "baseline",
        voteScale,
        models,
        policy: { kind, options: {} },
        name: kind,
        ...options,
      }),
    );
  }
}

/** On every plot. */
export const BASELINES = ["random", "best-fixed", "zero-feedback", "joust"];
/** They do not look at vectors. */
export const BLIND = ["random", "best-fixed"];

/** MiniLM_E4_Excel_perf_cost_exp, MiniLM_5: encoder, epochs, weighting, group; or examples in a prompt. */
function nameOf({
  encoder,
  epochs,
  weighting,
  group,
  examples,
}: Pick<Curve, "encoder" | "epochs" | "weighting" | "group" | "examples">): string {
  if (group === "prompt") return `${encoder}_${examples}`;
  const capital = weighting.slice(0, 1).toUpperCase() + weighting.slice(1);
  return `${encoder}_E${epochs}_${capital}_${group}`;
}

/** The paper's weightings with its tau, lambda and temperature. */
export function weighted(
  weighting: WeightingSettings["weighting"],
  rest: Partial<WeightingSettings> = {},
): WeightingSettings {
  return { weighting, tau: 3, lambda: PRICE, temperature: 1, ...rest };
}
