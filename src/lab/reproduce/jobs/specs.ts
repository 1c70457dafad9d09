/** Specs and values of the experiments' jobs: plain data that says how each number was made. */
import type { Options } from "../../../core/bandit/policy.ts";
import type { WeightingSettings } from "../../../core/calibrate/models.ts";
import type { FileRef, JobId } from "../../jobs/job.ts";
import type { Settings } from "../../simulate/settings.ts";

/** An encoder by its name and the identity of its weights. */
export interface EncoderRef {
  readonly name: string;
  readonly identity: string;
}

/** Queries and the true scores of the models on them. */
export interface DataSpec {
  /** Read as one data set. */
  readonly files: readonly FileRef[];
  readonly scores?: FileRef;
  /** Models left out. */
  readonly exclude?: readonly string[];
  /** Only these categories are kept. */
  readonly categories?: readonly string[];
  /**
   * An embed job. If given, the models are experts, one per category: the utility of
   * expert k on category m is the cosine between the mean vectors of the two categories.
   */
  readonly experts?: JobId;
  /** Seed of drawn verdicts on both orders of every pair of models. The categories are then dropped. */
  readonly verdicts?: number;
  /** Share of the queries to drop: those on which the judges agree least. */
  readonly ambiguous?: number;
}

/** One run's draw of the offline queries. All other queries may be streamed. */
export interface DrawSpec {
  /** A data job. */
  readonly data: JobId;
  /** The data job from which offline queries are drawn, if it differs from `data`. */
  readonly offlineData?: JobId;
  /** Offline queries per category, or per best model if the data has no categories. */
  readonly offline: number;
  /** Adds a category "NAME later" for each category, in which every model has the scores of another. */
  readonly change?: boolean;
  readonly seed: number;
  readonly run: number;
}

/** Decides which queries are streamed. With `rounds` "once", every query comes once. */
export interface StreamSpec {
  readonly rounds: number | "once";
  readonly stream: Settings["stream"];
}

/** The paper's prompts that describe a model, with `examples` queries in each. */
export interface PromptSpec {
  /** topic: listing 2. model: listing 3. plain: listing 3 without a benchmark's name and numbers. */
  readonly listing: "topic" | "model" | "plain";
  readonly examples: number;
}

export interface ToldSpec {
  /** The only categories whose scores and offline queries are known; all by default. */
  readonly categories?: readonly string[];
  /** The source of a_k: eqs. 3-6, the mean of category k (experts), or a prompt. */
  readonly models: WeightingSettings | "means" | PromptSpec;
}

/** Texts to embed. */
export type TextsSpec =
  | { readonly of: "data"; readonly data: JobId }
  | { readonly of: "stream"; readonly draw: DrawSpec; readonly stream: StreamSpec }
  | {
      readonly of: "prompts";
      readonly draw: DrawSpec;
      readonly categories?: readonly string[];
      readonly prompt: PromptSpec;
    };

/** Vectors of texts by an original encoder. */
export interface EmbedSpec {
  readonly encoder: EncoderRef;
  readonly texts: TextsSpec;
}

/** The texts that an encoder is trained on, and the texts to embed with it afterwards. */
export interface ExamplesSpec {
  readonly draw: DrawSpec;
  readonly categories?: readonly string[];
  readonly texts: TextsSpec;
}

export interface ExamplesValue {
  /** The draw's offline queries. */
  readonly offline: readonly string[];
  /** Category of each offline query, as an index. */
  readonly categories: readonly number[];
  /** Seed of the training. */
  readonly seed: number;
  readonly texts: readonly string[];
}

/** Vectors of texts by an encoder that was fine-tuned on a draw's offline queries (CCFT). */
export interface FitSpec {
  readonly encoder: EncoderRef;
  /** An examples job. */
  readonly examples: JobId;
  readonly epochs: number;
}

/** One run of one policy. */
export interface RunSpec {
  readonly draw: DrawSpec;
  readonly told: ToldSpec;
  /** The jobs with the vectors of queries and prompts. */
  readonly vectors: readonly JobId[];
  readonly policy: {
    readonly kind: string;
    readonly options: Options;
    /** The policy learns from likes of single answers instead of votes on duels. */
    readonly feedback?: "likes";
  };
  readonly stream: StreamSpec;
  readonly voteScale: number;
  /** utility = score - lambda * cost. */
  readonly lambda: number;
  /** Regret is also measured under score - price * cost. */
  readonly price: number;
}

export interface RunValue {
  /** Cumulative regret at the rounds t, under the utility and under score - price * cost. */
  readonly t: readonly number[];
  readonly regret: readonly number[];
  readonly priced: readonly number[];
  /** Means over rounds. A duel counts the mean of its two scores and the sum of its two costs. */
  readonly score: number;
  readonly cost: number | null;
  readonly agreement: number;
  /** choices[category][model]: number of answers in the last third of the rounds. */
  readonly choices: readonly (readonly number[])[];
}

/** The geometry of vectors: how they lie to each other and to the models' embeddings. */
export interface DescribeSpec {
  readonly draw: DrawSpec;
  readonly told: ToldSpec;
  readonly vectors: readonly JobId[];
  readonly stream: StreamSpec;
}

export interface DescribeValue {
  readonly categories: readonly string[];
  readonly models: readonly string[];
  /** Share of the streamed queries whose nearest xi is that of their own category. */
  readonly accuracy: number;
  /** Mean cosine of two streamed queries of one category, and of two categories. */
  readonly within: number;
  readonly across: number;
  /** cos(xi_m, xi_n) */
  readonly byCategory: readonly (readonly number[])[];
  /** Mean cos(x, a_k) over the queries of category m. */
  readonly byModel: readonly (readonly number[])[];
}

/** Vectors of all queries in three dimensions, by t-SNE. */
export interface ProjectSpec {
  readonly data: JobId;
  readonly vectors: readonly JobId[];
  readonly seed: number;
}

export interface ProjectValue {
  readonly categories: readonly string[];
  /** Category of each query. */
  readonly category: readonly number[];
  readonly points: readonly (readonly [number, number, number])[];
  /** Kullback-Leibler divergence between the neighbourhoods before and after. */
  readonly divergence: number;
}

/** A run in a world where the model of FGTS.CDB is true: utilities are linear in phi. */
export interface LinearSpec {
  readonly policy: RunSpec["policy"];
  readonly models: number;
  readonly dimension: number;
  readonly rounds: number;
  readonly voteScale: number;
  readonly seed: number;
  readonly run: number;
}
