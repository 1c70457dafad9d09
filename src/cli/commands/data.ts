import type { Command } from "commander";
import type { GetProgress, GotFile } from "../../lab/data/get-data.ts";
import { DATA_NAMES, DATA_SOURCES, type DataName } from "../../lab/data/sources.ts";
import { JOUST, newCommand } from "../shared/command.ts";
import { argument, folder } from "../shared/flags.ts";
import { interruptibly } from "../shared/progress.ts";
import { drawBar } from "../shared/status-line.ts";

export function dataCommand(): Command {
  return newCommand({
    name: "data",
    summary: "download the public data sets of the paper's experiments",
    description:
      "Downloads public data sets into the folders in which joust reproduce --data looks for them.",
    examples: GET,
    notes: NOTES,
  })
    .helpCommand(false)
    .addCommand(getCommand());
}

const GET = [
  [
    "Download MMLU and repeat its experiment",
    "joust data get mmlu",
    "joust reproduce mmlu --data data-sets",
  ],
  [
    "Download from a copy; after an interruption the same command continues",
    "joust data get mixinstruct --base https://mirror.example.org",
  ],
] as const;

const NOTES = `\
Data sets:
${DATA_NAMES.map((name) => `  ${name.padEnd(12)} ${DATA_SOURCES[name].title}; licence: ${DATA_SOURCES[name].licence}`).join("\n")}

Every file is verified by a SHA-256 that is part of this program. Only the checksums of llmrouter were
computed from the files themselves; the others are stated by projects that downloaded the files.

Environment:
  JOUST_DATA_BASE  address of a server with the same paths as the public one, unless --base is given`;

interface GetFlags {
  readonly out: string;
  readonly base?: string | undefined;
  readonly overwrite?: boolean | undefined;
  readonly json?: boolean | undefined;
}

function getCommand(): Command {
  return newCommand({
    name: "get",
    summary: "download a data set",
    description:
      "Downloads the files of a data set, verifies them, and makes the files that the other commands read. A file appears under its name only when it is complete. An existing file with other content is replaced only with --overwrite.",
    examples: GET,
    notes: NOTES,
  })
    .addArgument(argument("<name>", "data set to download", DATA_NAMES))
    .option("--out <dir>", "folder of data sets", folder("--out"), "data-sets")
    .option(
      "--base <url>",
      "address of a server with the same paths as the public one (default: JOUST_DATA_BASE, else the public server)",
    )
    .option("--overwrite", "replace files that have other content")
    .option("--json", "print JSON")
    .action(async (name: DataName, flags: GetFlags) => {
      process.exitCode = await runGet(name, flags);
    });
}

/** Downloads a data set and prints its files. Returns the exit code. */
async function runGet(name: DataName, { out, base, overwrite, json }: GetFlags): Promise<number> {
  const { getData } = await import("../../lab/data/get-data.ts");
  return interruptibly(async (show, signal) => {
    const files = await getData(name, {
      out,
      base: base ?? (process.env.JOUST_DATA_BASE || undefined),
      overwrite,
      signal,
      onWait: () =>
        process.stderr.write(
          "joust: waiting for another process that is downloading this data set\n",
        ),
      onProgress: (progress) => show(progressLine(progress)),
    });
    const { title, licence, page } = DATA_SOURCES[name];
    return json
      ? `${JSON.stringify({ name, title, licence, page, files })}\n`
      : resultText(name, files, out);
  });
}

function progressLine({ file, done, total }: GetProgress): string {
  const size = `${(done / 1e6).toFixed(1)} MB`;
  return total > 0 ? `${drawBar(done, total)} ${size}, ${file}` : `${size}, ${file}`;
}

function resultText(name: DataName, files: readonly GotFile[], out: string): string {
  const { title, licence, page, next } = DATA_SOURCES[name];
  const downloaded = files.filter(({ url }) => url !== undefined);
  const made = files.filter(({ url }) => url === undefined);
  const lines = [
    title,
    `source:  ${page}`,
    `licence: ${licence}`,
    ...downloaded.map(
      ({ path, sha256, changed }) =>
        `${path}${changed ? "" : " (was there already)"}\n  SHA-256 ${sha256}`,
    ),
    ...(made.length > 1 ? [`${made[0]!.path} and ${made.length - 1} more files made from it`] : []),
    ...(made.length === 1 ? [`${made[0]!.path}, made from these files`] : []),
    `next: ${next.replaceAll("DIR", out).replace(/^joust/, JOUST)}`,
  ];
  return `${lines.join("\n")}\n`;
}
