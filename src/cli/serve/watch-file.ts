import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/**
 * Calls back when a file has changed, a moment later and one call at a time. The
 * folder is watched: editors and orchestrators put a new file in the old one's place.
 */
export function watchFile(file: string, onChange: () => Promise<void>): () => void {
  const path = resolve(file);
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(onChange);
    }, SETTLE_MS);
  };
  const watcher = watch(dirname(path), (_, name) => {
    // A mounted secret or config map changes by a link of another name in the same folder.
    if (name === null || name === basename(path) || name.startsWith("..")) changed();
  });
  watcher.on("error", () => watcher.close());
  process.on("SIGHUP", changed);
  return () => {
    clearTimeout(timer);
    watcher.close();
    process.off("SIGHUP", changed);
  };
}

const SETTLE_MS = 100;
