import { join } from "node:path";
import { type EncoderPlaces, type OpenEncoder, openEncoder } from "../encoder/open-encoder.ts";
import { type Reference, readReference, referenceText } from "../encoder/reference.ts";
import { InputError } from "../input/input-error.ts";
import { BUNDLE_FILE, type Bundle, ENCODER_FOLDER, isBundle, readBundle } from "./bundle.ts";

/** What `--encoder` means: an encoder by name or folder, or a bundle with its own. */
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
 * The vectors must be those that xi and a_k were made of, or the same weights' in
 * 8 bits: another encoder of that name is refused.
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
    `is not that of the encoder ${name} here, which gives other vectors`,
    `fit again with the ${name} that is here, or find the one it was fitted with`,
  );
}
