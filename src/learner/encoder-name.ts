import type { OpenEncoder } from "../core/encoder/open-encoder.ts";

/** Name of an encoder in the log. It includes the hash of the weights because embeddings of different weights cannot be mixed. */
export function loggedEncoderName({
  name,
  identity,
}: Pick<OpenEncoder, "name" | "identity">): string {
  return `${name}@${identity.slice(0, 16)}`;
}
