import type { Options } from "../../core/bandit/policy.ts";
import type { WeightingSettings } from "../../core/calibrate/models.ts";
import type { JobId } from "../jobs/job.ts";
import { BASELINES, type Curve, type Group, WITHOUT_VECTORS } from "./curve.ts";
import type { FoundEncoder } from "./encoders.ts";
import type {
  DataSpec,
  DrawSpec,
  PromptSpec,
  RunSpec,
  StreamSpec,
  TextsSpec,
  ToldSpec,
} from "./jobs/specs.ts";
import { type Planner, PRICE } from "./planner.ts";

/** The common part of all curves of a setting: queries, true scores, offline draws and stream. */
export interface SettingOptions {
  readonly experiment: string;
  readonly form: string;
  readonly data: DataSpec;
  /** The data from which offline queries are drawn; `data` by default. */
  readonly offlineData?: DataSpec;
  /** The queries that an original encoder embeds once for all runs; those of `data` by default. */
  readonly texts?: DataSpec;
  /** Offline queries per category. */
  readonly offline: number;
  readonly change?: boolean;
  /** The stream of a run with the given number of rounds. */
  streamOf(rounds: number): StreamSpec;
  /** Approximate numbers of models, queries and known categories, for estimates of time. */
  readonly models: number;
  readonly queries: number;
  readonly categories: number;
  /** Seed of the draws and streams, if it is not that of the reported runs. */
  readonly seed?: number;
  /** Another setting with the same offline queries whose stream includes all queries of this one. Its vectors are reused here. */
  readonly vectorsOf?: Setting;
}

/** An encoder as a curve uses it. */
export interface EncoderState {
  readonly encoder: FoundEncoder;
  /** Epochs of fine-tuning; 0 for the original encoder. */
  readonly epochs: number;
  /** Rounds of the longest run that uses the vectors. */
  readonly rounds: number;
  /** The only categories that are known and used for fine-tuning; all by default. */
  readonly categories?: readonly string[] | undefined;
}

export interface CurveOptions {
  readonly state: EncoderState;
  readonly group: Group;
  readonly voteScale: number;
  readonly models: ToldSpec["models"];
  readonly policy?: RunSpec["policy"];
  readonly variant?: string;
  /** utility = score - lambda * cost; 0 by default. */
  readonly lambda?: number;
  readonly name?: string;
  /** Epochs in the name, if they differ from the state's: a control group has those of its counterpart. */
  readonly epochs?: number;
  readonly examples?: number;
  /** Fewer rounds than the state's, whose vectors serve for both. */
  readonly rounds?: number;
  /** Number of runs; that of the planner by default. */
  readonly runs?: number;
}

export class Setting {
  readonly planner: Planner;
  readonly options: SettingOptions;
  readonly #data: JobId;
  readonly #offlineData: JobId | undefined;

  constructor(planner: Planner, options: SettingOptions) {
    this.planner = planner;
    this.options = options;
    this.#data = planner.load(options.data);
    this.#offlineData = options.offlineData && planner.load(options.offlineData);
  }

  draw(run: number): DrawSpec {
    const { offline, change, seed = this.planner.seed } = this.options;
    return {
      data: this.#data,
      ...(this.#offlineData !== undefined && { offlineData: this.#offlineData }),
      offline,
      ...(change && { change }),
      seed,
      run,
    };
  }

  /** The job with the vectors of a run. */
  vectors(state: EncoderState, run: number): JobId {
    const { vectorsOf, experiment, form, queries, offline, streamOf } = this.options;
    if (vectorsOf) return vectorsOf.vectors(state, run);
    const { encoder, epochs, rounds, categories } = state;
    const label = `${experiment} (${form})`;
    if (epochs === 0) {
      return this.planner.embed(encoder, { of: "data", data: this.allTexts() }, queries, label);
    }
    const draw = this.draw(run);
    const texts: TextsSpec = { of: "stream", draw, stream: streamOf(rounds) };
    const known = categories?.length ?? this.options.categories;
    return this.planner.fit(
      encoder,
      epochs,
      { draw, texts, ...(categories && { categories }) },
      {
        pairs: known * offline * (offline - 1),
        count: Math.min(queries, rounds) + known * offline,
        label: `${label}, run ${run + 1}`,
      },
    );
  }

  /** The job with every query, without the scores of models. */
  allTexts(): JobId {
    const { files, categories } = this.options.texts ?? this.options.data;
    return this.planner.load({ files, ...(categories && { categories }) });
  }

  curve(options: CurveOptions): Curve {
    const { state, group, voteScale, models, variant = "", lambda = 0, examples = 0 } = options;
    const { experiment, form, streamOf } = this.options;
    const { encoder, categories } = state;
    const { rounds = state.rounds, policy = fgts(), epochs = state.epochs } = options;
    const weighting = typeof models === "object" && "weighting" in models ? models.weighting : "";
    const prompt = typeof models === "object" && "listing" in models ? models : undefined;
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
    return this.planner.curve(
      { ...head, name: options.name ?? nameOf(head) },
      (run) => ({
        draw: this.draw(run),
        told: { models, ...(categories && { categories }) },
        vectors: [this.vectors(state, run), ...(prompt ? [this.prompts(state, prompt, run)] : [])],
        policy,
        stream: streamOf(rounds),
        lambda,
      }),
      {
        rounds,
        models: this.options.models,
        dimension: encoder.dimension,
        offline: this.options.offline * this.options.categories,
        runs: options.runs,
      },
    );
  }

  /** A curve whose model embeddings come from prompts with example queries. */
  promptCurve(
    prompt: PromptSpec,
    options: Omit<CurveOptions, "group" | "models" | "examples">,
  ): Curve {
    const { examples } = prompt;
    return this.curve({ ...options, group: "prompt", models: prompt, examples });
  }

  /** The job with the vectors of the prompts. */
  prompts(state: EncoderState, prompt: PromptSpec, run: number): JobId {
    const { experiment, form, models, vectorsOf } = this.options;
    if (vectorsOf) return vectorsOf.prompts(state, prompt, run);
    const { encoder, categories } = state;
    const draw = this.draw(run);
    const texts: TextsSpec = { of: "prompts", draw, prompt, ...(categories && { categories }) };
    const label = `${experiment} (${form}) prompts, run ${run + 1}`;
    return this.planner.embed(encoder, texts, 4 * models, label);
  }

  /** FGTS.CDB on one coefficient per model and category, in place of the features of the paper. */
  onCategories(options: Omit<CurveOptions, "group" | "name">): Curve {
    return this.curve({
      ...options,
      group: "baseline",
      policy: fgts({ features: "category" }),
      variant: joined(options.variant, "on categories"),
      name: "FGTS.CDB on categories",
    });
  }

  /**
   * The best theta of a curve's features, known in advance: by the likelihood of all votes,
   * which is what learning converges to, and by its regret. A few runs suffice, because the
   * result does not depend on random votes.
   */
  bestThetas(options: CurveOptions, objectives: readonly ("votes" | "regret")[]): Curve[] {
    const { voteScale: scale, policy = fgts(), state } = options;
    const { weighting = "fitted", metadata = "none" } = policy.options;
    return objectives.map((objective) => {
      const variant = objective === "votes" ? "best theta" : "best theta by regret";
      return this.curve({
        ...options,
        epochs: state.epochs,
        group: "baseline",
        policy: { kind: "best-theta", options: { weighting, metadata, objective, scale } },
        variant: joined(options.variant, variant),
        runs: Math.min(5, this.planner.runsOf(this.options.experiment)),
      });
    });
  }

  /** The curves that every figure shows, on the vectors of the figure's encoder if they use any. */
  baselines(
    state: EncoderState,
    models: ToldSpec["models"],
    voteScale: number,
    rest: Partial<CurveOptions> & { readonly original?: EncoderState } = {},
  ): Curve[] {
    const { original = { ...state, epochs: 0, categories: undefined }, ...options } = rest;
    return BASELINES.map((kind) =>
      this.curve({
        state: WITHOUT_VECTORS.includes(kind) ? original : state,
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

/** MiniLM_E4_Excel_perf_cost_exp, or MiniLM_5 for prompts with five queries. */
function nameOf(
  head: Pick<Curve, "encoder" | "epochs" | "weighting" | "group" | "examples" | "policy">,
): string {
  const { encoder, epochs, weighting, group, examples, policy } = head;
  if (group === "prompt") return `${encoder}_${examples}`;
  const capital = weighting.slice(0, 1).toUpperCase() + weighting.slice(1);
  return `${encoder}_E${epochs}_${capital}_${policy === "best-theta" ? policy : group}`;
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(", ");
}

/** The weighting with the paper's tau, lambda and temperature. */
export function weighted(
  weighting: WeightingSettings["weighting"],
  rest: Partial<WeightingSettings> = {},
): WeightingSettings {
  return { weighting, tau: 3, lambda: PRICE, temperature: 1, ...rest };
}

/** The paper's weightings of categories, in its order, and the two that it recommends. */
export const EXCEL = ["excel_perf_cost", "excel_mask"] as const;
export const WEIGHTINGS = ["perf", "perf_cost", ...EXCEL] as const;
/** Example queries in a prompt. */
export const EXAMPLES = [1, 3, 5];

/** The paper's FGTS.CDB, on model embeddings made in advance. */
export function fgts(options: Options = {}): RunSpec["policy"] {
  return { kind: "fgts-cdb", options: { weighting: "fitted", ...FGTS_SETTING, ...options } };
}

/**
 * The settings that the paper does not give. Of 20 combinations they have the least regret on
 * seeds that no figure uses (experiments/settings.ts): about half of that of eta = 1, sd = 5.
 */
const FGTS_SETTING: Options = { eta: 10, sd: 1 };
