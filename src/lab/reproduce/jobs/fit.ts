import { join } from "node:path";
import { WEIGHTING_DEFAULTS } from "../../../core/bandit/weighting.ts";
import { isBundle } from "../../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../../core/calibrate/bundle-encoder.ts";
import { trainingDefaults } from "../../../core/calibrate/fine-tune.ts";
import { fitBundle } from "../../../core/calibrate/fit.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { openDraw, restrict } from "./draw.ts";
import { encodeTexts, oneThread, openRef } from "./embed.ts";
import type { FitSpec } from "./specs.ts";

/**
 * Fine-tunes an encoder on the draw's offline queries, as `joust fit` does, and returns
 * its vectors. The weights are not kept: runs need the vectors only, and fifty encoders
 * would fill a disk.
 */
export async function fit(spec: FitSpec, context: Context): Promise<Result> {
  const bundle = join(await context.folder(), "bundle");
  if (!isBundle(bundle)) await train(spec, bundle, context);
  const { encoder } = await openEncoderOrBundle(bundle, oneThread(context.places));
  return encodeTexts(encoder, spec.texts, context);
}

async function train(spec: FitSpec, bundle: string, context: Context): Promise<void> {
  const { offline, random } = await openDraw(spec.draw, context);
  const encoder = await openRef(spec.encoder, context);
  const stop = new AbortController();
  const onStep = () => {
    try {
      context.check();
    } catch (error) {
      stop.abort(error);
    }
  };
  // Every run makes its own model embeddings, so the weighting of the bundle is never used.
  const { tau, lambda, temperature } = WEIGHTING_DEFAULTS;
  try {
    await fitBundle(
      {
        offline: restrict(offline, spec.categories),
        heldOut: { texts: [], categories: [] },
        encoder,
        places: oneThread(context.places),
        settings: {
          weighting: "perf",
          tau,
          lambda,
          temperature,
          ...trainingDefaults(encoder)!,
          epochs: spec.epochs,
          seed: random.split("fit").integer(2 ** 32),
        },
        version: "reproduce",
        sources: {},
      },
      { out: bundle, resume: true, threads: 1, onStep, signal: stop.signal },
    );
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    await encoder.close();
  }
}
