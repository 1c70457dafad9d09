import { availableParallelism } from "node:os";
import { Command } from "commander";
import { encoderPlaces } from "../core/encoder/encoder-places.ts";
import { FolderStore } from "../lab/jobs/store.ts";
import { defaultCache, KINDS } from "./reproduce.ts";
import { folder, number } from "./shared/flags.ts";
import { interruptible } from "./shared/interrupt.ts";
import { JOUST } from "./shared/invocation.ts";

interface WorkFlags {
  readonly workers: string;
  readonly models?: string | undefined;
  readonly threads?: number | undefined;
  readonly cache?: string | undefined;
}

export function workCommand(): Command {
  return new Command("work")
    .description(
      "Takes jobs of a `joust reproduce --workers` from PostgreSQL, does them and gives the results back, until it is stopped. Data and vectors come through the database; models must be here. What it was at when it ends is taken by others.",
    )
    .requiredOption("--workers <url>", "the database: postgres://user:password@host/database")
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"))
    .option(
      "--threads <n>",
      "jobs at a time (default: all cores)",
      number("--threads", { from: 1, to: 1024, whole: true, example: 2 }),
    )
    .option(
      "--cache <dir>",
      "where results of jobs are kept; can be deleted at any time (default: reproduce in the user's cache)",
      folder("--cache"),
    )
    .helpOption("-h, --help", "this text")
    .addHelpText(
      "after",
      `\nExample:\n  ${JOUST} work --workers postgres://joust:secret@db/joust --models models\n`,
    )
    .action(async (flags: WorkFlags) => {
      process.exitCode = await runWork(flags);
    });
}

async function runWork({
  workers: url,
  models,
  threads = availableParallelism(),
  cache,
}: WorkFlags) {
  const store = new FolderStore(cache ?? defaultCache());
  await store.open();
  const { work } = await import("../lab/jobs/work.ts");
  const interrupt = interruptible();
  try {
    await work({
      url,
      threads,
      kinds: KINDS,
      store,
      places: encoderPlaces(models),
      signal: interrupt.signal,
      onTask: ({ kind, key }, state) =>
        process.stderr.write(`${state} ${kind} ${key.slice(0, 12)}\n`),
    });
  } finally {
    interrupt.release();
  }
  return interrupt.code;
}
