import { join } from "node:path";
import type { Pool } from "../../core/bandit/policy.ts";
import type { Bundle } from "../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { categoryEmbeddings } from "../../core/calibrate/models.ts";
import {
  DEFAULT_ENCODER,
  type EncoderPlaces,
  type OpenEncoder,
} from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readScores, type ScoreTable } from "../../core/input/scores.ts";
import { loggedEncoderName } from "../../learner/encoder-name.ts";
import type { RouterConfig } from "../config/config.ts";
import { readExamples } from "../sandbox/classifier.ts";

/** Encoder, categories and scores that a router has before the first vote. */
export interface Calibration {
  readonly encoder: OpenEncoder;
  /** Name of the encoder in the log. Embeddings of different encoders cannot be mixed. */
  readonly encoderName: string;
  readonly categories: readonly string[];
  readonly centroids: readonly Float64Array[];
  readonly bundle?: Bundle | undefined;
  readonly scores?: ScoreTable | undefined;
}

export interface CalibrationPlaces {
  /** Folder of the project's data. */
  readonly data: string;
  readonly encoders: EncoderPlaces;
}

export async function openCalibration(
  config: Pick<RouterConfig, "encoder" | "bundle" | "scores">,
  places: CalibrationPlaces,
): Promise<Calibration> {
  const reference = config.bundle ?? config.encoder ?? DEFAULT_ENCODER;
  const { encoder, bundle } = await openEncoderOrBundle(reference, places.encoders);
  if (config.bundle !== undefined && !bundle) {
    await encoder.close();
    throw new InputError(
      { file: "joust.yaml", field: "bundle" },
      `"${config.bundle}" is not a bundle`,
      "name a folder that joust fit has written, or use it as encoder",
    );
  }
  const scores = config.scores === undefined ? undefined : await readScores(config.scores);
  const split = bundle
    ? {
        categories: bundle.categories.map(({ name }) => name),
        centroids: bundle.categories.map(({ xi }) => xi),
      }
    : await projectCategories(encoder, places.data);
  if (scores && !split.categories.some((name) => scores.categories.has(name))) {
    await encoder.close();
    throw new InputError(
      { file: config.scores!, field: "category" },
      "has none of the router's categories",
      `the categories are ${split.categories.join(", ")}`,
    );
  }
  return { encoder, encoderName: loggedEncoderName(encoder), ...split, bundle, scores };
}

/**
 * The project's seven categories, for a router without a bundle. Their centroids are means over
 * the project's questions and free-form examples. With these, 80% of new free-form prompts are
 * nearest to their own category (hash encoder); with the questions alone, which have the form of
 * exams, 52% are.
 */
async function projectCategories(
  encoder: OpenEncoder,
  data: string,
): Promise<Pick<Calibration, "categories" | "centroids">> {
  const files = [join(data, "queries.jsonl"), join(data, "free-form", "exemplars.jsonl")];
  const examples = (await Promise.all(files.map(readExamples))).flat();
  const categories = [...new Set(examples.map(({ category }) => category))];
  const vectors = await encoder.encode(examples.map(({ query }) => query));
  const centroids = categoryEmbeddings(
    vectors,
    examples.map(({ category }) => categories.indexOf(category)),
  );
  return { categories, centroids };
}

/** The pool of these models, with their known scores; NaN for an unknown score. */
export function poolOf(calibration: Calibration, models: readonly string[]): Pool {
  const { categories, centroids, bundle, scores } = calibration;
  const known = models.map((model) => scoresOf(model, categories, bundle, scores));
  const told = known.map(({ scores }) => scores);
  const toldErrors = known.map(({ errors }) => errors);
  const hasNumber = (rows: readonly Float64Array[]) =>
    rows.some((row) => row.some((value) => !Number.isNaN(value)));
  return {
    models,
    categories,
    centroids,
    ...(hasNumber(told) && { told }),
    ...(hasNumber(toldErrors) && { toldErrors }),
  };
}

/** Scores of a model by category, with their standard errors. The operator's table takes precedence over the bundle. */
function scoresOf(
  model: string,
  categories: readonly string[],
  bundle: Bundle | undefined,
  scores: ScoreTable | undefined,
): { readonly scores: Float64Array; readonly errors: Float64Array } {
  const fitted = bundle?.models.find(({ name }) => name === model);
  const table = scores?.models.get(model);
  const cells = categories.map((category, m) => {
    const own = table?.get(category);
    if (own) return { score: own.perf, error: own.error };
    return { score: fitted?.scores[m] ?? Number.NaN, error: fitted?.errors?.[m] ?? Number.NaN };
  });
  return {
    scores: Float64Array.from(cells, ({ score }) => score),
    errors: Float64Array.from(cells, ({ error }) => error),
  };
}
