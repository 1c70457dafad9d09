import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Logger } from "pino";
import {
  formatError,
  formatErrorLine,
  JoustError,
  messageOf,
} from "../../core/errors/joust-error.ts";
import type { FileProblem } from "../../gateway/administration/administration.ts";
import type { Config } from "../../gateway/config/config.ts";
import { changedFixedSettings } from "../../gateway/config/fixed-settings.ts";
import { type ServeFlags, withPlace } from "./configuration.ts";

/** A gateway that can serve another configuration. */
interface Reloadable {
  reload(config: Config): Promise<void>;
  reloadFailed(problem: FileProblem): void;
}

/** Serves the changed file, or keeps the previous configuration if the file is invalid. `first` is the configuration at the start. */
export async function reload(
  running: Reloadable,
  file: string,
  flags: ServeFlags,
  first: Config,
  read: () => Promise<Config>,
  logger: Logger,
): Promise<void> {
  try {
    const next = await read();
    await running.reload(next);
    logger.warn("the configuration was reloaded");
    const fixed = changedFixedSettings(first, next);
    if (fixed.length > 0) {
      logger.warn(`not changed, because this requires a restart: ${fixed.join(", ")}`);
    }
  } catch (thrown) {
    const error = await withPlace(thrown, file, flags);
    const { hint } = error instanceof JoustError ? error : {};
    running.reloadFailed({ problem: messageOf(error), hint: hint ?? "correct the file" });
    logger.error(
      { problem: formatErrorLine(error) },
      "the configuration is invalid; the previous one stays in use",
    );
    process.stderr.write(
      `joust: ${formatError(error)}\njoust: the previous configuration stays in use\n`,
    );
  }
}

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
