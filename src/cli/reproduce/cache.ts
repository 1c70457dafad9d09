import { homedir } from "node:os";
import { join } from "node:path";
import { cacheFolder } from "../../core/encoder/common/find-model.ts";
import { moduleUrl } from "../../core/input/project.ts";
import { FolderStore } from "../../lab/jobs/store.ts";

/** The module with the kinds of jobs, which worker threads load. */
export const KINDS = moduleUrl(new URL("../../lab/reproduce/jobs/kinds.ts", import.meta.url));

/** Opens the cache of job results in a folder, by default in the user's cache. */
export async function openCache(folder: string | undefined): Promise<FolderStore> {
  const store = new FolderStore(folder ?? join(cacheFolder(process.env, homedir()), "reproduce"));
  await store.open();
  return store;
}
