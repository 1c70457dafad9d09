/** `joust models`: the encoders there are, and how to get those that are not here. */
import { homedir } from "node:os";
import { Command } from "commander";
import { findModel, type ModelPlaces, modelPlaces } from "../../core/encoder/common/find-model.ts";
import { KNOWN_MODELS, knownModel } from "../../core/encoder/common/known-models.ts";
import {
  type DownloadProgress,
  downloadModel,
  HUB,
} from "../../core/encoder/download/download-model.ts";
import { type ListedEncoder, listEncoders } from "../../core/encoder/list-encoders.ts";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { toText } from "../../lab/report/table.ts";
import { folder } from "../shared/flags.ts";
import { interruptible } from "../shared/interrupt.ts";
import { JOUST } from "../shared/invocation.ts";
import { barOf, duration, statusLine } from "../shared/status-line.ts";

export function modelsCommand(): Command {
  return new Command("models")
    .description("The encoders that --encoder knows: list them, or download one from a hub.")
    .helpOption("-h, --help", "this text")
    .helpCommand(false)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(getCommand())
    .addHelpText("after", EXAMPLES);
}

const PLACES = "a folder of model folders to look in first, before JOUST_MODELS and the cache";

const EXAMPLES = `
Examples:
  What there is, and where:
    ${JOUST} models list
  MiniLM into the user's cache, where every command finds it:
    ${JOUST} models get MiniLM
  Another model of the hub (BERT or MPNet), into a folder of yours:
    ${JOUST} models get BAAI/bge-small-en-v1.5 --models ./models
  From a mirror; a download that was stopped goes on:
    ${JOUST} models get e5b --endpoint https://hub.example.org

Environment:
  JOUST_MODELS  folders to look in, separated as in PATH; a download goes to the first
  HF_ENDPOINT   the hub, where --endpoint is not given (default ${HUB})
  HF_TOKEN      for models that are private or gated
`;

interface ListFlags {
  readonly models?: string | undefined;
  readonly json?: boolean | undefined;
}

function listCommand(): Command {
  return new Command("list")
    .summary("every encoder, its dimension and where it is (default)")
    .description("Every encoder that --encoder knows, its dimension and where it is.")
    .option("--models <dir>", PLACES, folder("--models"))
    .option("--json", "print them as JSON")
    .helpOption("-h, --help", "this text")
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments() // as the default it gets the words that are no command, too
    .action(async ({ models, json }: ListFlags, { args: [word] }: Command) => {
      if (word !== undefined) {
        const remedy = `${didYouMean(word, ["list", "get"])}write models list, or models get NAME`;
        throw new InputError({ file: word }, "is no command of models", remedy);
      }
      const encoders = await listEncoders(placesOf(models));
      process.stdout.write(json ? `${JSON.stringify(encoders)}\n` : listing(encoders));
    });
}

function placesOf(models: string | undefined): ModelPlaces {
  return modelPlaces(models, process.env, homedir());
}

function listing(encoders: readonly ListedEncoder[]): string {
  return toText({
    title: "Encoders",
    columns: [
      { key: "name", title: "name", kind: "text" },
      { key: "kind", title: "kind", kind: "text" },
      { key: "dimension", title: "dimension", kind: "number" },
      { key: "where", title: "where", kind: "text" },
    ],
    rows: encoders.map((one) => [one.name, one.kind, one.dimension, whereOf(one)]),
  });
}

function whereOf({ name, source, path }: ListedEncoder): string {
  if (path !== null) return path;
  if (source === "program") return "part of the program";
  if (source === "api") {
    return process.env.OPENAI_API_KEY ? "with OPENAI_API_KEY, which is set" : "set OPENAI_API_KEY";
  }
  return `not here: ${JOUST} models get ${name}`;
}

interface GetFlags extends ListFlags {
  readonly endpoint?: string | undefined;
  readonly revision?: string | undefined;
}

function getCommand(): Command {
  return new Command("get")
    .summary("download a model: checked, and gone on with where it broke")
    .description(
      "Downloads what the encoder needs of a model. Every file is checked by its hash, and the folder is put in place when it is complete. Stopped or broken, the same command goes on where it was.",
    )
    .argument(
      "<name>",
      `${KNOWN_MODELS.map(({ name }) => name).join(", ")}, or OWNER/NAME on the hub`,
    )
    .option(
      "--models <dir>",
      "the folder of model folders to put it in (default: JOUST_MODELS, else the user's cache)",
      folder("--models"),
    )
    .option("--endpoint <url>", `a Hugging Face compatible host (default HF_ENDPOINT, else ${HUB})`)
    .option("--revision <r>", "branch, tag or commit (default: the newest, or what is there)")
    .option("--json", "print where it is as JSON")
    .helpOption("-h, --help", "this text")
    .addHelpText("after", EXAMPLES)
    .action(async (name: string, flags: GetFlags) => {
      process.exitCode = await runGet(name, flags);
    });
}

/** Downloads and says where it is. Returns the exit code. */
async function runGet(
  name: string,
  { models, endpoint, revision, json }: GetFlags,
): Promise<number> {
  const repository = repositoryOf(name);
  const places = placesOf(models);
  const { env } = process;
  const say = (path: string, changed: boolean) => {
    const text = json
      ? JSON.stringify({ name, repository, path, changed })
      : `${name} ${changed ? "is now" : "was already"} in ${path}`;
    process.stdout.write(`${text}\n`);
    return 0;
  };
  if (models === undefined && revision === undefined) {
    const found = await findModel(name, places);
    if (found !== undefined) return say(found, false);
  }
  const line = statusLine(process.stderr);
  const interrupt = interruptible();
  const show = progressShower((text) => line?.show(text));
  try {
    const { path, changed } = await downloadModel({
      repository,
      revision,
      models: places.download,
      endpoint: endpoint ?? (env.HF_ENDPOINT || HUB),
      token: env.HF_TOKEN || undefined,
      signal: interrupt.signal,
      onWait: () => process.stderr.write("joust: another process downloads it; waiting\n"),
      onProgress: show,
    });
    line?.clear();
    return say(path, changed);
  } catch (error) {
    line?.clear();
    if (!interrupt.signal.aborted) throw error;
    process.stderr.write("joust: stopped; the same command goes on where it was\n");
    return interrupt.code;
  } finally {
    interrupt.release();
  }
}

function repositoryOf(name: string): string {
  const known = knownModel(name);
  if (known) return known.repository;
  if (name.includes("/")) return name;
  const names = KNOWN_MODELS.map((model) => model.name);
  throw new InputError(
    { file: name },
    "is no model to download",
    `${didYouMean(name, names)}name ${names.join(", ")}, or a repository of the hub as OWNER/NAME`,
  );
}

/** At most ten lines a second; the pace is that of this run, without what was there before. */
function progressShower(show: (line: string) => void) {
  let start: { readonly at: number; readonly done: number } | undefined;
  let last = Number.NEGATIVE_INFINITY;
  return (progress: DownloadProgress) => {
    const now = performance.now();
    start ??= { at: now, done: progress.done };
    if (now - last < 100 && progress.done < progress.total) return;
    last = now;
    show(downloadLine(progress, progress.done - start.done, now - start.at));
  };
}

/** `came` bytes within so many milliseconds give the pace. */
export function downloadLine(
  { file, done, total }: DownloadProgress,
  came: number,
  milliseconds: number,
): string {
  const pace = came / milliseconds;
  const left = pace > 0 && Number.isFinite(pace) ? [`${duration((total - done) / pace)} left`] : [];
  const speed = left.length > 0 ? [`${megabytes(1000 * pace)} MB/s`] : [];
  const size = `${megabytes(done)}/${megabytes(total)} MB`;
  return [`${barOf(done, total)} ${size}`, ...speed, ...left, file].join(", ");
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
