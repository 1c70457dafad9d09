import { InputError } from "../input/input-error.ts";
import { readKey } from "../store/seal.ts";

/** The key of prompts that are kept encrypted, if there is one. */
export function storeKey({ JOUST_STORE_KEY: text }: NodeJS.ProcessEnv): Uint8Array | undefined {
  if (text === undefined) return undefined;
  try {
    return readKey(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const [problem, remedy] = error.message.split("; help: ");
    throw new InputError({ file: "JOUST_STORE_KEY" }, problem!, remedy!);
  }
}
