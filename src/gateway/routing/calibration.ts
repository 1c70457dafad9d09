import { statSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "../../core/bandit/policy.ts";
import { BUNDLE_FILE, type Bundle } from "../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { categoryConfusion } from "../../core/calibrate/confusion.ts";
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
  /** See `Pool.confusion`. */
  readonly confusion?: readonly Float64Array[] | undefined;
  readonly bundle?: Bundle | undefined;
  readonly scores?: ScoreTable | undefined;
}

export interface CalibrationPlaces {
  /** Folder of the project's data. */
  readonly data: string;
  readonly encoders: EncoderPlaces;
}

/** Everything of a calibration but the operator's scores. */
type Base = Omit<Calibration, "scores">;

type Files = Pick<RouterConfig, "encoder" | "bundle" | "scores">;

/**
 * Calibrations by the files that they come from. A file that has changed is read again; a change of
 * the scores alone does not open the encoder again.
 */
export class Calibrations {
  readonly #bases = new Map<string, Promise<Base>>();
  readonly #complete = new Map<string, Promise<Calibration>>();
  readonly #places: CalibrationPlaces;

  constructor(places: CalibrationPlaces) {
    this.#places = places;
  }

  open(files: Files): Promise<Calibration> {
    const { encoder, bundle, scores } = files;
    const reference = bundle ?? encoder ?? DEFAULT_ENCODER;
    const source = [reference, bundle, stampOf(join(reference, BUNDLE_FILE))];
    const base = kept(this.#bases, source, () => openBase(files, this.#places));
    const stamp = scores === undefined ? undefined : stampOf(scores);
    return kept(this.#complete, [...source, scores, stamp], async () =>
      withScores(await base, scores),
    );
  }

  /** Closes the encoders, and forgets the scores, of all calibrations but those that are in use. */
  async retain(used: readonly Calibration[]): Promise<void> {
    const encoders = used.map(({ encoder }) => encoder);
    for (const [key, opening] of this.#bases) {
      const base = await opening.catch(() => undefined);
      if (!base || encoders.includes(base.encoder)) continue;
      this.#bases.delete(key);
      await base.encoder.close();
    }
    // A calibration may have been opened with one of these encoders meanwhile.
    for (const [key, opening] of this.#complete) {
      const complete = await opening.catch(() => undefined);
      if (complete && !used.includes(complete)) this.#complete.delete(key);
    }
  }

  close(): Promise<void> {
    return this.retain([]);
  }
}

/** The entry of a key, which is made if it is missing. A failure is not kept. */
function kept<T>(
  entries: Map<string, Promise<T>>,
  parts: unknown,
  make: () => Promise<T>,
): Promise<T> {
  const key = JSON.stringify(parts);
  const found = entries.get(key);
  if (found) return found;
  const made = make();
  entries.set(key, made);
  made.catch(() => entries.delete(key));
  return made;
}

/** A value that differs between versions of a file; undefined if there is no such file. */
function stampOf(file: string): readonly number[] | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && [stats.mtimeMs, stats.size, stats.ino];
}

async function openBase(config: Files, places: CalibrationPlaces): Promise<Base> {
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
  const split = bundle
    ? {
        categories: bundle.categories.map(({ name }) => name),
        centroids: bundle.categories.map(({ xi }) => xi),
        ...confusionOf(bundle),
      }
    : await projectCategories(encoder, places.data);
  return { encoder, encoderName: loggedEncoderName(encoder), ...split, bundle };
}

async function withScores(base: Base, file: string | undefined): Promise<Calibration> {
  if (file === undefined) return { ...base };
  const scores = await readScores(file);
  if (!base.categories.some((name) => scores.categories.has(name))) {
    throw new InputError(
      { file, field: "category" },
      "has none of the router's categories",
      `the categories are ${base.categories.join(", ")}`,
    );
  }
  return { ...base, scores };
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
): Promise<Pick<Calibration, "categories" | "centroids" | "confusion">> {
  const files = [join(data, "queries.jsonl"), join(data, "free-form", "exemplars.jsonl")];
  const examples = (await Promise.all(files.map(readExamples))).flat();
  const categories = [...new Set(examples.map(({ category }) => category))];
  const vectors = await encoder.encode(examples.map(({ query }) => query));
  const indices = examples.map(({ category }) => categories.indexOf(category));
  const centroids = categoryEmbeddings(vectors, indices);
  const confusion = categoryConfusion(centroids, { embeddings: vectors, categories: indices });
  return { categories, centroids, confusion };
}

/** The confusion of a bundle's categories. Bundles of older versions have none. */
function confusionOf({ categories }: Bundle): Pick<Calibration, "confusion"> {
  const confusion = categories.flatMap((category) =>
    category.confusion ? [category.confusion] : [],
  );
  return confusion.length === categories.length ? { confusion } : {};
}

/** The pool of these models, with their known scores; NaN for an unknown score. */
export function poolOf(calibration: Calibration, models: readonly string[]): Pool {
  const { categories, centroids, confusion, bundle, scores } = calibration;
  const known = models.map((model) => scoresOf(model, categories, bundle, scores));
  const told = known.map(({ scores }) => scores);
  const toldErrors = known.map(({ errors }) => errors);
  const hasNumber = (rows: readonly Float64Array[]) =>
    rows.some((row) => row.some((value) => !Number.isNaN(value)));
  return {
    models,
    categories,
    centroids,
    ...(confusion && { confusion }),
    ...(hasNumber(told) && { told }),
    ...(hasNumber(toldErrors) && { toldErrors }),
  };
}

/** A warning if the table of scores has no score of these models, because the router then ignores it. */
export function unusedScores(
  { scores, categories }: Calibration,
  models: readonly string[],
): string | undefined {
  const isKnown = (model: string) =>
    categories.some((category) => scores?.models.get(model)?.has(category));
  if (!scores || models.some(isKnown)) return undefined;
  return `the scores in ${scores.file} have no effect, because none of them is about a model and a category of this router; hint: the column model needs the names of the router's models (${models.join(", ")})`;
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
