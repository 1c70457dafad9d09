/** The specs of all jobs: plain data that says everything about how a number came to be. */
import type { Options } from "../../../core/bandit/policy.ts";
import type { WeightingSettings } from "../../../core/calibrate/models.ts";
import type { FileRef, JobId } from "../../jobs/job.ts";
import type { Settings } from "../../simulate/settings.ts";

/** An encoder by its name, and which weights of that name. */
export interface EncoderRef {
  readonly name: string;
  readonly identity: string;
}

/** Queries, and what is true of the models on them. */
export interface DataSpec {
  /** Read as one. */
  readonly files: readonly FileRef[];
  readonly scores?: FileRef;
  /** Models left out. */
  readonly exclude?: readonly string[];
  /** Keep these categories alone. */
  readonly categories?: readonly string[];
  /**
   * The models are experts, one a category: the utility of expert k on category
   * m is the cosine between the mean vectors of the two categories' queries.
   */
  readonly experts?: JobId;
  /** Both orders of every pair of models are judged by votes drawn with this seed; categories are forgotten. */
  readonly verdicts?: number;
  /** Share of the queries to drop, those on which judges agree least. */
  readonly ambiguous?: number;
}

/** One run's draw of the offline queries; all others may be streamed. */
export interface DrawSpec {
  readonly data: DataSpec;
  /** Offline queries a category; where the data has none, a best model. */
  readonly offline: number;
  /** Offline queries come from the data without so many ambiguous ones. */
  readonly offlineAmbiguous?: number;
  /** In a second set of categories, "NAME later", every model's scores are another model's. */
  readonly change?: boolean;
  readonly seed: number;
  readonly run: number;
}

/** What decides which queries come. `rounds` "once": each query once. */
export interface StreamSpec {
  readonly rounds: number | "once";
  readonly stream: Settings["stream"];
}

/** The paper's listings; `examples` queries in each prompt. */
export interface PromptSpec {
  /** topic: listing 2. model: listing 3. plain: listing 3 without what a benchmark says. */
  readonly listing: "topic" | "model" | "plain";
  readonly examples: number;
}

export interface ToldSpec {
  /** The categories that are told of, all unless said: neither scores nor offline queries of others are. */
  readonly categories?: readonly string[];
  /** How a_k is made: by eqs. 3-6, as the category's own mean (experts), or by a prompt. */
  readonly models: WeightingSettings | "means" | PromptSpec;
}

/** Which texts are to be embedded. */
export type TextsSpec =
  | { readonly of: "data"; readonly data: DataSpec }
  | { readonly of: "stream"; readonly draw: DrawSpec; readonly stream: StreamSpec }
  | {
      readonly of: "prompts";
      readonly draw: DrawSpec;
      readonly categories?: readonly string[];
      readonly prompt: PromptSpec;
    };

/** Vectors of texts by an encoder as it is. */
export interface EmbedSpec {
  readonly encoder: EncoderRef;
  readonly texts: readonly TextsSpec[];
}

/** Vectors of texts by an encoder fine-tuned on a draw's offline queries (CCFT). */
export interface FitSpec extends EmbedSpec {
  readonly draw: DrawSpec;
  readonly categories?: readonly string[];
  readonly epochs: number;
}

/** One run of one policy. */
export interface RunSpec {
  readonly draw: DrawSpec;
  readonly told: ToldSpec;
  /** The jobs that have the vectors of queries and prompts. */
  readonly vectors: readonly JobId[];
  readonly policy: { readonly kind: string; readonly options: Options };
  readonly stream: StreamSpec;
  readonly voteScale: number;
  /** utility = score - lambda * cost. */
  readonly lambda: number;
  /** Regret is measured under score - price * cost too. */
  readonly price: number;
}

export interface RunValue {
  /** Cumulative regret at the rounds t, under the utility and under score - price * cost. */
  readonly t: readonly number[];
  readonly regret: readonly number[];
  readonly priced: readonly number[];
  /** Means over rounds; a duel counts the mean of two scores, and both costs. */
  readonly score: number;
  readonly cost: number | null;
  readonly agreement: number;
  /** Over the last third of the rounds: how often each model answered in each category. */
  readonly choices: readonly (readonly number[])[];
}

/** How vectors lie to each other and to the models' embeddings. */
export interface DescribeSpec {
  readonly draw: DrawSpec;
  readonly told: ToldSpec;
  readonly vectors: readonly JobId[];
  readonly stream: StreamSpec;
}

export interface DescribeValue {
  readonly categories: readonly string[];
  readonly models: readonly string[];
  /** Share of the streamed queries that are nearest to their own category's xi. */
  readonly accuracy: number;
  /** Mean cosine of streamed queries of one category, and of two. */
  readonly within: number;
  readonly across: number;
  /** cos(xi_m, xi_n) */
  readonly byCategory: readonly (readonly number[])[];
  /** Mean cos(x, a_k) over the queries of category m. */
  readonly byModel: readonly (readonly number[])[];
}

/** Vectors of all queries in three dimensions, by t-SNE. */
export interface ProjectSpec {
  readonly data: DataSpec;
  readonly vectors: readonly JobId[];
  readonly seed: number;
}

export interface ProjectValue {
  readonly categories: readonly string[];
  /** Of each query. */
  readonly category: readonly number[];
  readonly points: readonly (readonly [number, number, number])[];
  /** Of the neighbourhoods before and after. */
  readonly divergence: number;
}

/** Where FGTS.CDB's model is true: utilities linear in phi. */
export interface LinearSpec {
  readonly policy: RunSpec["policy"];
  readonly models: number;
  readonly dimension: number;
  readonly rounds: number;
  readonly voteScale: number;
  readonly seed: number;
  readonly run: number;
}
