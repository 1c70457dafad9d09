import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Renames a finished folder to `path`. An old folder at that path is removed once the new one is in place. */
export async function replaceFolder(path: string, finished: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const old = `${path}.${process.pid}.old`;
  const replaced = await rename(path, old).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
  try {
    await rename(finished, path);
  } catch (error) {
    if (replaced) await rename(old, path);
    throw error;
  }
  if (replaced) await rm(old, { recursive: true });
}
