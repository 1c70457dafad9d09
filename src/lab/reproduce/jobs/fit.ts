import { fineTune, trainingDefaults } from "../../../core/calibrate/fine-tune.ts";
import { pairsOf } from "../../../core/calibrate/pairs.ts";
import { openEncoder } from "../../../core/encoder/open-encoder.ts";
import { Random } from "../../../core/random/random.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { encodeTexts, oneThread, openRef } from "./encode-texts.ts";
import type { ExamplesValue, FitSpec } from "./specs.ts";

/**
 * Fine-tunes an encoder on offline queries, with the same pairs, order and seed as
 * `joust fit`, and returns its vectors. The weights are not kept: runs need the vectors
 * only, and fifty encoders would fill a disk.
 */
export async function fit(spec: FitSpec, context: Context): Promise<Result> {
  const { value } = await context.input(spec.examples);
  const examples = value as ExamplesValue;
  const path = await train(spec, examples, context);
  const encoder = await openEncoder(path, oneThread(context.places));
  return encodeTexts(encoder, examples.texts, context);
}

/** Returns the folder of the trained encoder. A training that was stopped goes on from its last checkpoint. */
async function train(spec: FitSpec, examples: ExamplesValue, context: Context): Promise<string> {
  const { offline, categories, seed } = examples;
  const random = Random.seeded(seed);
  const encoder = await openRef(spec.encoder, context);
  await encoder.close(); // training reads the files, and needs the memory
  const stop = new AbortController();
  const onStep = () => {
    try {
      context.check();
    } catch (error) {
      stop.abort(error);
    }
  };
  try {
    const { path } = await fineTune(encoder, offline, pairsOf(categories, random.split("pairs")), {
      ...trainingDefaults(encoder)!,
      epochs: spec.epochs,
      random: random.split("epochs"),
      folder: await context.folder(),
      threads: 1,
      onStep,
      signal: stop.signal,
    });
    return path;
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  }
}
