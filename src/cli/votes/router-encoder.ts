import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import { DEFAULT_ENCODER, type EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { loggedEncoderName } from "../../learner/encoder-name.ts";
import type { Store } from "../../store/store.ts";

/** Opens the encoder of a router, and returns the models of its pool if it was served before. `flag` may give its name or folder, but must lead to the same encoder. */
export async function openRouterEncoder(
  store: Store,
  router: string,
  flag: string | undefined,
  places: EncoderPlaces,
) {
  const controls = await store.controls(router);
  const configured = controls.findLast((event) => event.kind === "configured");
  // The log names an encoder NAME@IDENTITY.
  const reference = flag ?? configured?.encoder.split("@")[0] ?? DEFAULT_ENCODER;
  const { encoder } = await openEncoderOrBundle(reference, places);
  const name = loggedEncoderName(encoder);
  const known = configured?.pool.models;
  if (!configured || configured.encoder === name) return { encoder, name, known };
  await encoder.close();
  throw new InputError(
    { file: "--encoder" },
    `is ${name}, but the router uses ${configured.encoder}`,
    "give the encoder or the bundle that the router is served with",
  );
}
