import { existsSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Command } from "commander";
import { locateModel } from "../../core/encoder/common/find-model.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { DISTILL, distill } from "../../core/encoder/static/distill.ts";
import { STATIC_FILE, writeStaticFile } from "../../core/encoder/static/static-file.ts";
import { readModelFolder } from "../../core/encoder/transformer/model/model-folder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { writeError } from "../../core/input/system-error.ts";
import { folder, number } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import { statusLine } from "../shared/status-line.ts";

interface DistillFlags {
  readonly encoder: string;
  readonly out: string;
  readonly dimension: number;
  readonly models?: string | undefined;
  readonly overwrite?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export function distillCommand(): Command {
  return new Command("distill")
    .description(
      "Makes a static encoder from a transformer: a table with a vector for each of its tokens. It needs no text and no network, takes some ten seconds, and gives the same file on every machine. The bundled encoder is MiniLM's.",
    )
    .requiredOption("--out <dir>", "the folder to put it in", folder("--out"))
    .option("--encoder <name>", "a transformer: its name or its folder", "MiniLM")
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"))
    .option(
      "--dimension <n>",
      "numbers a vector",
      number("--dimension", { from: 1, to: 65536, whole: true, example: DISTILL.dimension }),
      DISTILL.dimension,
    )
    .option("--overwrite", "replace a static encoder that is there")
    .option("--json", "print what was made as JSON")
    .helpOption("-h, --help", "this text")
    .addHelpText("after", AFTER)
    .action(runDistill);
}

const AFTER = `
Examples:
  The bundled encoder again:
    ${JOUST} distill --encoder MiniLM --out out/static
  A smaller one from another model, and what it makes of a sentence:
    ${JOUST} distill --encoder e5b --dimension 128 --out out/small
    echo "Why is the sky blue?" | ${JOUST} encode --encoder out/small
`;

async function runDistill({ out, json, ...flags }: DistillFlags): Promise<void> {
  const file = join(out, STATIC_FILE);
  if (existsSync(file) && !flags.overwrite) {
    throw new InputError(
      { file },
      "exists already",
      "add --overwrite to replace it, or name another folder",
    );
  }
  const path = await locateModel(flags.encoder, encoderPlaces(flags.models).models);
  const status = statusLine(process.stderr);
  const say = async (text: string) => {
    status?.show(text);
    await setImmediate(); // what follows leaves no time to draw
  };
  try {
    await say(`reading ${path}`);
    const model = await readModelFolder(path);
    await say(`${model.tokenizer.vocabSize} tokens: finding the axes of their vectors`);
    const table = distill(model, { ...DISTILL, dimension: flags.dimension });
    await mkdir(out, { recursive: true });
    const sha256 = await writeStaticFile(file, table);
    const { size: bytes } = await stat(file);
    status?.clear();
    const { source, dimension } = table;
    const made = { file, source, tokens: table.scales.length, dimension, bytes, sha256 };
    process.stdout.write(json ? `${JSON.stringify(made)}\n` : describe(out, made));
  } catch (error) {
    throw writeError(out, error);
  } finally {
    status?.clear();
  }
}

interface Made {
  readonly file: string;
  readonly source: string;
  readonly tokens: number;
  readonly dimension: number;
  readonly bytes: number;
  readonly sha256: string;
}

function describe(out: string, { file, source, tokens, dimension, bytes, sha256 }: Made): string {
  return `${file}: ${tokens} tokens of ${source}, ${dimension} numbers each, ${(bytes / 1e6).toFixed(1)} MB
sha256 of the table: ${sha256}
Use it with --encoder ${out}
`;
}
