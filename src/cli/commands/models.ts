import { homedir } from "node:os";
import type { Command } from "commander";
import { findModel, type ModelPlaces, modelPlaces } from "../../core/encoder/common/find-model.ts";
import { KNOWN_MODELS, knownModel } from "../../core/encoder/common/known-models.ts";
import type { DownloadProgress } from "../../core/encoder/download/download-model.ts";
import type { ListedEncoder } from "../../core/encoder/list-encoders.ts";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { toText } from "../../lab/report/table.ts";
import { JOUST, newCommand } from "../shared/command.ts";
import { folder } from "../shared/flags.ts";
import { interruptibly, type ShowProgress } from "../shared/progress.ts";
import { drawBar, duration } from "../shared/status-line.ts";

const NAMES = KNOWN_MODELS.map(({ name }) => name);

export function modelsCommand(): Command {
  return newCommand({
    name: "models",
    summary: "list the encoders, or download one",
    description:
      "Lists the encoders that the option --encoder accepts, or downloads one from the Hugging Face hub.",
    examples: [LIST, ...GET],
    notes: ENVIRONMENT,
  })
    .helpCommand(false)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(getCommand());
}

const LIST = ["List the encoders and their folders", "joust models list"] as const;
const GET = [
  [
    "Download MiniLM into the user's cache, where every command finds it",
    "joust models get MiniLM",
  ],
  [
    "Download another BERT or MPNet model into a folder of yours",
    "joust models get BAAI/bge-small-en-v1.5 --models ./models",
  ],
  [
    "Download from a mirror; after an interruption the same command continues",
    "joust models get e5b --endpoint https://hub.example.org",
  ],
] as const;

const ENVIRONMENT = `\
Environment:
  JOUST_MODELS  folders to search, separated as in PATH; downloads go to the first one
  HF_ENDPOINT   address of the hub, unless --endpoint is given (default: https://huggingface.co)
  HF_TOKEN      access token for private and gated models`;

interface ListFlags {
  readonly models?: string | undefined;
  readonly json?: boolean | undefined;
}

function listCommand(): Command {
  return newCommand({
    name: "list",
    summary: "list the encoders with dimension and folder (default)",
    description: "Lists the encoders that --encoder accepts, with their dimension and folder.",
    examples: [LIST],
  })
    .option(
      "--models <dir>",
      "folder of model folders to search first, before JOUST_MODELS and the cache",
      folder("--models"),
    )
    .option("--json", "print JSON")
    .allowExcessArguments() // as the default command it also receives misspelt subcommands
    .action(async ({ models, json }: ListFlags, { args: [word] }: Command) => {
      if (word !== undefined) {
        const hint = `${didYouMean(word, ["list", "get"])}write models list, or models get NAME`;
        throw new InputError({ file: word }, "is not a subcommand of models", hint);
      }
      const { listEncoders } = await import("../../core/encoder/list-encoders.ts");
      const encoders = await listEncoders(placesOf(models));
      process.stdout.write(json ? `${JSON.stringify(encoders)}\n` : listText(encoders));
    });
}

function placesOf(models: string | undefined): ModelPlaces {
  return modelPlaces(models, process.env, homedir());
}

function listText(encoders: readonly ListedEncoder[]): string {
  return toText({
    title: "Encoders",
    columns: [
      { key: "name", title: "name", kind: "text" },
      { key: "kind", title: "kind", kind: "text" },
      { key: "dimension", title: "dimension", kind: "number" },
      { key: "where", title: "where", kind: "text" },
    ],
    rows: encoders.map((one) => [one.name, one.kind, one.dimension, whereText(one)]),
  });
}

function whereText({ name, source, path }: ListedEncoder): string {
  if (path !== null) return path;
  if (source === "program") return "part of the program";
  if (source === "api") {
    return process.env.OPENAI_API_KEY ? "available: OPENAI_API_KEY is set" : "set OPENAI_API_KEY";
  }
  return `not downloaded: ${JOUST} models get ${name}`;
}

interface GetFlags extends ListFlags {
  readonly endpoint?: string | undefined;
  readonly revision?: string | undefined;
}

function getCommand(): Command {
  return newCommand({
    name: "get",
    summary: "download a model",
    description:
      "Downloads the files that the encoder needs. Every file is verified by its hash, and the folder appears only when it is complete. After an interruption the same command continues where it stopped.",
    examples: GET,
    notes: ENVIRONMENT,
  })
    .argument("<name>", `${NAMES.join(", ")}, or OWNER/NAME on the hub`)
    .option(
      "--models <dir>",
      "folder of model folders to download to (default: JOUST_MODELS, else the user's cache)",
      folder("--models"),
    )
    .option(
      "--endpoint <url>",
      "address of a hub compatible with Hugging Face (default: HF_ENDPOINT, else https://huggingface.co)",
    )
    .option(
      "--revision <r>",
      "branch, tag or commit (default: the one already downloaded, else the newest)",
    )
    .option("--json", "print JSON")
    .action(async (name: string, flags: GetFlags) => {
      process.exitCode = await runGet(name, flags);
    });
}

/** Downloads a model and prints its folder. Returns the exit code. */
async function runGet(
  name: string,
  { models, endpoint, revision, json }: GetFlags,
): Promise<number> {
  const repository = repositoryOf(name);
  const places = placesOf(models);
  const { env } = process;
  const resultText = (path: string, changed: boolean) =>
    json
      ? `${JSON.stringify({ name, repository, path, changed })}\n`
      : `${name} ${changed ? "is now" : "was already"} in ${path}\n`;
  return interruptibly(async (show, signal) => {
    const isAny = models === undefined && revision === undefined;
    const found = isAny ? await findModel(name, places) : undefined;
    if (found !== undefined) return resultText(found, false);
    const { downloadModel, HUB } = await import("../../core/encoder/download/download-model.ts");
    const { path, changed } = await downloadModel({
      repository,
      revision,
      models: places.download,
      endpoint: endpoint ?? (env.HF_ENDPOINT || HUB),
      token: env.HF_TOKEN || undefined,
      signal,
      onWait: () =>
        process.stderr.write("joust: waiting for another process that is downloading this model\n"),
      onProgress: progressPrinter(show),
    });
    return resultText(path, changed);
  });
}

function repositoryOf(name: string): string {
  const known = knownModel(name);
  if (known) return known.repository;
  if (name.includes("/")) return name;
  throw new InputError(
    { file: name },
    "is not a model that can be downloaded",
    `${didYouMean(name, NAMES)}choose ${NAMES.join(", ")}, or a repository of the hub as OWNER/NAME`,
  );
}

/** Shows the progress of a download. The speed does not include earlier downloads. */
function progressPrinter(show: ShowProgress) {
  let start: { readonly at: number; readonly done: number } | undefined;
  return (progress: DownloadProgress) => {
    const now = performance.now();
    start ??= { at: now, done: progress.done };
    show(downloadLine(progress, progress.done - start.done, now - start.at));
  };
}

/** A line of progress. The speed is that of `bytes` received in `milliseconds`. */
export function downloadLine(
  { file, done, total }: DownloadProgress,
  bytes: number,
  milliseconds: number,
): string {
  const speed = bytes / milliseconds;
  const size = `${drawBar(done, total)} ${megabytes(done)}/${megabytes(total)} MB`;
  if (!(speed > 0 && Number.isFinite(speed))) return `${size}, ${file}`;
  const left = duration((total - done) / speed);
  return `${size}, ${megabytes(1000 * speed)} MB/s, ${left} left, ${file}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
