import { type Command, Option } from "commander";
import type { WorkFlags } from "../reproduce/work.ts";
import { newCommand } from "../shared/command.ts";
import { folder, threads, withModelsFlag } from "../shared/flags.ts";

export function workCommand(): Command {
  const command = newCommand({
    name: "work",
    summary: "run jobs of a reproduction on this machine",
    description:
      'Takes jobs of "joust reproduce --workers" from PostgreSQL, runs them and returns the results, until it is stopped. Data and embeddings come through the database; models must be on this machine. If the process ends, other workers take over its jobs.',
    examples: [
      [
        "Run jobs on all cores",
        "joust work --workers postgres://joust:secret@db/joust --models models",
      ],
    ],
  })
    .addOption(
      new Option("--workers <url>", "database of the jobs: postgres://user:password@host/database")
        .env("JOUST_WORKERS")
        .makeOptionMandatory(),
    )
    .option("--threads <n>", "number of concurrent jobs (default: one per core)", threads)
    .option("--cache <dir>", CACHE_HELP, folder("--cache"));
  return withModelsFlag(command).action(async (flags: WorkFlags) => {
    const { runWork } = await import("../reproduce/work.ts");
    process.exitCode = await runWork(flags);
  });
}

const CACHE_HELP =
  "folder for the results of jobs; it can be deleted at any time (default: reproduce in the user's cache)";
