import { join } from "node:path";
import type { Pool } from "../../core/bandit/policy.ts";
import type { Bundle } from "../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { categoryEmbeddings } from "../../core/calibrate/categories.ts";
import {
  DEFAULT_ENCODER,
  type EncoderPlaces,
  type OpenEncoder,
} from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readScores, type ScoreTable } from "../../lab/data/scores.ts";
import { loggedEncoderName } from "../../learner/encoder-name.ts";
import type { RouterConfig } from "../config/config.ts";
import { readExamples } from "../sandbox/kinds.ts";

/** What a router knows before the first vote, whatever its models are. */
export interface Calibration {
  readonly encoder: OpenEncoder;
  /** Names the encoder in the log: vectors of different ones do not mix. */
  readonly encoderName: string;
  readonly categories: readonly string[];
  readonly centroids: readonly Float64Array[];
  readonly bundle?: Bundle | undefined;
  readonly scores?: ScoreTable | undefined;
}

export interface CalibrationPlaces {
  /** The project's folder of data. */
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
      `"${config.bundle}" is no bundle`,
      "give the folder that joust fit has written, or name it as encoder",
    );
  }
  const scores = config.scores === undefined ? undefined : await readScores(config.scores);
  const kinds = bundle
    ? {
        categories: bundle.categories.map(({ name }) => name),
        centroids: bundle.categories.map(({ xi }) => xi),
      }
    : await projectKinds(encoder, places.data);
  if (scores && !kinds.categories.some((name) => scores.categories.has(name))) {
    await encoder.close();
    throw new InputError(
      { file: config.scores!, field: "category" },
      "has none of the router's categories",
      `they are ${kinds.categories.join(", ")}`,
    );
  }
  return { encoder, encoderName: loggedEncoderName(encoder), ...kinds, bundle, scores };
}

/**
 * Without labels of its own a router has the project's seven kinds. Their
 * centroids are means over the project's questions and free-form examples:
 * with these a fresh free-form prompt is nearest to its own kind in 0.80 of
 * cases (hash encoder), with the questions alone, whose form is that of exams,
 * in 0.52.
 */
async function projectKinds(
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

/** What the policy is told of these models: scores where there are some, NaN where not. */
export function poolOf(calibration: Calibration, models: readonly string[]): Pool {
  const { categories, centroids, bundle, scores } = calibration;
  const told = models.map((model) => toldOf(model, categories, bundle, scores));
  const known = told.some((row) => row.some((score) => !Number.isNaN(score)));
  return { models, categories, centroids, ...(known && { told }) };
}

/** The table comes before the bundle, being the one that an operator writes by hand. */
function toldOf(
  model: string,
  categories: readonly string[],
  bundle: Bundle | undefined,
  scores: ScoreTable | undefined,
): Float64Array {
  const fitted = bundle?.models.find(({ name }) => name === model)?.scores;
  const table = scores?.models.get(model);
  return Float64Array.from(
    categories,
    (category, m) => table?.get(category)?.perf ?? fitted?.[m] ?? Number.NaN,
  );
}
