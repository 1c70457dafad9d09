import type { OpenEncoder } from "../core/encoder/open-encoder.ts";

/** How the log names an encoder: vectors of two that differ in anything do not mix. */
export function logNameOf({ name, identity }: Pick<OpenEncoder, "name" | "identity">): string {
  return `${name}@${identity.slice(0, 16)}`;
}
