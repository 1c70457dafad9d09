import { join } from "node:path";
import { type EncoderPlaces, type OpenEncoder, openEncoder } from "../encoder/open-encoder.ts";
import { InputError } from "../input/input-error.ts";
import { BUNDLE_FILE, type Bundle, ENCODER_FOLDER, isBundle, readBundle } from "./bundle.ts";

/** What `--encoder` means: an encoder by name or folder, or a bundle with its own. */
export async function openEncoderOrBundle(
  reference: string,
  places: EncoderPlaces | undefined,
): Promise<{ readonly encoder: OpenEncoder; readonly bundle?: Bundle }> {
  if (!isBundle(reference)) return { encoder: await openEncoder(reference, places) };
  const bundle = await readBundle(reference);
  return { bundle, encoder: await openBundleEncoder(reference, bundle, places) };
}

/** The vectors must be those that xi and a_k were made of: another encoder of that name is refused. */
async function openBundleEncoder(
  folder: string,
  { encoder }: Bundle,
  places: EncoderPlaces | undefined,
): Promise<OpenEncoder> {
  const { name, own, identity } = encoder;
  const opened = await openEncoder(own ? join(folder, ENCODER_FOLDER) : name, places);
  if (opened.identity === identity) return { ...opened, name };
  await opened.close();
  throw new InputError(
    { file: join(folder, BUNDLE_FILE), field: "encoder.identity" },
    `is not that of the encoder ${name} here, which gives other vectors`,
    `fit again with the ${name} that is here, or find the one it was fitted with`,
  );
}
