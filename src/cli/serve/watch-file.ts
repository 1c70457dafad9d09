import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/**
 * Calls back shortly after a file has changed or SIGHUP has arrived, one call at a time. It watches the
 * folder, because editors and orchestrators replace the file. Returns a function that ends the watching.
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
    // Kubernetes changes a mounted secret or config map through a link "..data" in the same folder.
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
