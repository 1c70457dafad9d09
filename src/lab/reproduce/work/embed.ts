import { encodeAll } from "../../../core/encoder/encode-all.ts";
import {
  type EncoderPlaces,
  type OpenEncoder,
  openEncoder,
} from "../../../core/encoder/open-encoder.ts";
import { InputError } from "../../../core/input/input-error.ts";
import type { Context, Result } from "../../jobs/job.ts";
import type { EmbedSpec, EncoderRef } from "./specs.ts";
import { openTexts } from "./texts.ts";
import { vectorsResult } from "./vectors.ts";

export async function embed(
  { encoder, texts: specs }: EmbedSpec,
  context: Context,
): Promise<Result> {
  const texts = await openTexts(specs, context);
  const open = await openRef(encoder, context);
  try {
    return await encodeTexts(open, texts, context);
  } finally {
    await open.close();
  }
}

/** One thread, so that the bits do not depend on the machine's cores, and jobs do not fight for them. */
export function alone(places: EncoderPlaces): EncoderPlaces {
  return { ...places, threads: 1 };
}

/** The encoder of that name, which must be the one that is meant. */
export async function openRef(ref: EncoderRef, { places }: Context): Promise<OpenEncoder> {
  const open = await openEncoder(ref.name, alone(places));
  if (open.identity === ref.identity) return open;
  await open.close();
  throw new InputError(
    { file: ref.name },
    "has other weights here than where the work was planned",
    "give all machines the same models",
  );
}

export async function encodeTexts(
  encoder: OpenEncoder,
  texts: readonly string[],
  context: Context,
): Promise<Result> {
  const vectors = await encodeAll(encoder, texts, { onProgress: () => context.check() });
  return vectorsResult(texts, vectors);
}
