import { join } from "node:path";
import { type EncoderPlaces, type OpenEncoder, openEncoder } from "../encoder/open-encoder.ts";
import { type Reference, readReference, referenceText } from "../encoder/reference.ts";
import { InputError } from "../input/input-error.ts";
import { BUNDLE_FILE, type Bundle, ENCODER_FOLDER, isBundle, readBundle } from "./bundle.ts";

/** Opens what `--encoder` names: an encoder, or a bundle together with its encoder. */
export async function openEncoderOrBundle(
  text: string,
  places: EncoderPlaces | undefined,
): Promise<{ readonly encoder: OpenEncoder; readonly bundle?: Bundle }> {
  const reference = readReference(text);
  if (!isBundle(reference.base)) return { encoder: await openEncoder(text, places) };
  const bundle = await readBundle(reference.base);
  return { bundle, encoder: await openBundleEncoder(reference, bundle, places) };
}

/**
 * Opens the encoder that xi and a_k were computed with, or its 8-bit version. An
 * encoder of the same name with other weights is rejected.
 */
async function openBundleEncoder(
  { base: folder, int8 }: Reference,
  { encoder }: Bundle,
  places: EncoderPlaces | undefined,
): Promise<OpenEncoder> {
  const { name, own, identity } = encoder;
  const base = own ? join(folder, ENCODER_FOLDER) : name;
  const opened = await openEncoder(referenceText({ base, int8 }), places);
  if ((opened.float32 ?? opened.identity) === identity) {
    return { ...opened, name: referenceText({ base: name, int8 }) };
  }
  await opened.close();
  throw new InputError(
    { file: join(folder, BUNDLE_FILE), field: "encoder.identity" },
    `differs from the encoder ${name} on this machine, whose embeddings are different`,
    `fit again with the ${name} on this machine, or install the one that the bundle was fitted with`,
  );
}
