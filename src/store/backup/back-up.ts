import { Thread } from "../../core/threads/thread.ts";
import type { BackupMethods } from "./backup.worker.ts";
import type { Manifest } from "./manifest.ts";

/** Copies a store that is in use into a new folder, on a thread of its own. */
export async function backUp(
  from: { readonly file: string } | { readonly url: string },
  folder: string,
): Promise<Manifest> {
  const thread = new Thread<BackupMethods>(new URL("./backup.worker.ts", import.meta.url));
  try {
    return await thread.methods.backUp(from, folder);
  } finally {
    await thread.close();
  }
}
