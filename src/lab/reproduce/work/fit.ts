import { join } from "node:path";
import { WEIGHTING_DEFAULTS } from "../../../core/bandit/weighting.ts";
import { isBundle } from "../../../core/calibrate/bundle.ts";
import { openEncoderOrBundle } from "../../../core/calibrate/bundle-encoder.ts";
import { trainingDefaults } from "../../../core/calibrate/fine-tune.ts";
import { fitBundle } from "../../../core/calibrate/fit.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { openDraw, restrict } from "./draw.ts";
import { alone, encodeTexts, openRef } from "./embed.ts";
import type { FitSpec } from "./specs.ts";
import { openTexts } from "./texts.ts";

/**
 * `joust fit` on the draw's offline queries, and the vectors that its encoder
 * gives. The weights are not kept: vectors are all that runs need of them, and
 * fifty encoders would fill a disk.
 */
export async function fit(spec: FitSpec, context: Context): Promise<Result> {
  const bundle = join(await context.folder(), "bundle");
  if (!isBundle(bundle)) await train(spec, bundle, context);
  const texts = await openTexts(spec.texts, context);
  const { encoder } = await openEncoderOrBundle(bundle, alone(context.places));
  try {
    return await encodeTexts(encoder, texts, context);
  } finally {
    await encoder.close();
  }
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
  try {
    await fitBundle(
      {
        offline: restrict(offline, spec.categories),
        heldOut: { texts: [], categories: [] },
        encoder,
        places: alone(context.places),
        settings: {
          ...WEIGHTINGS_ARE_THE_RUNS,
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

/** Every run makes its own model embeddings of the bundle's categories. */
const WEIGHTINGS_ARE_THE_RUNS = {
  weighting: "perf",
  tau: WEIGHTING_DEFAULTS.tau,
  lambda: WEIGHTING_DEFAULTS.lambda,
  temperature: WEIGHTING_DEFAULTS.temperature,
} as const;
