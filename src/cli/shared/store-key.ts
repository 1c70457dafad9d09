import { checkedAt } from "../../core/input/input-error.ts";
import { readKey } from "../../store/seal.ts";

/** The key of prompts that are kept encrypted, if there is one. */
export function storeKey({ JOUST_STORE_KEY: text }: NodeJS.ProcessEnv): Uint8Array | undefined {
  if (text === undefined) return undefined;
  return checkedAt({ file: "JOUST_STORE_KEY" }, () => readKey(text));
}
