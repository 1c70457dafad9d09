import { existsSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { DISTILL, distill } from "../../core/encoder/static/distill.ts";
import { InputError } from "../../core/input/input-error.ts";
import { newCommand } from "../shared/command.ts";
import { folder, number, withModelsFlag } from "../shared/flags.ts";
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
  const command = newCommand({
    name: "distill",
    summary: "make a static encoder from a transformer",
    description:
      "Makes a static encoder from a transformer: a table with one vector per token. It takes about ten seconds, needs neither text nor a network, and gives the same file on every machine. The bundled encoder was made from MiniLM.",
    examples: [
      ["Make the bundled encoder again", "joust distill --encoder MiniLM --out out/static"],
      [
        "Make a smaller one from another model, and encode a sentence with it",
        "joust distill --encoder e5b --dimension 128 --out out/small",
        'echo "Why is the sky blue?" | joust encode --encoder out/small',
      ],
    ],
  })
    .requiredOption("--out <dir>", "folder to write", folder("--out"))
    .option("--encoder <name>", "transformer: its name or its folder", "MiniLM")
    .option(
      "--dimension <n>",
      "length of a vector",
      number("--dimension", { from: 1, to: 65536, whole: true, example: DISTILL.dimension }),
      DISTILL.dimension,
    )
    .option("--overwrite", "replace a static encoder in --out")
    .option("--json", "print the result as JSON");
  return withModelsFlag(command).action(run);
}

async function run({ out, json, ...flags }: DistillFlags): Promise<void> {
  const { locateModel } = await import("../../core/encoder/common/find-model.ts");
  const { STATIC_FILE, writeStaticFile } = await import("../../core/encoder/static/static-file.ts");
  const { readModelFolder } = await import("../../core/encoder/transformer/model/model-folder.ts");
  const { writeError } = await import("../../core/input/system-error.ts");
  const file = join(out, STATIC_FILE);
  if (existsSync(file) && !flags.overwrite) {
    throw new InputError(
      { file },
      "already exists",
      "add --overwrite to replace it, or choose another folder",
    );
  }
  const path = await locateModel(flags.encoder, encoderPlaces(flags.models).models);
  const status = statusLine(process.stderr);
  const show = async (text: string) => {
    status?.show(text);
    await setImmediate(); // the computation that follows blocks the event loop
  };
  try {
    await show(`reading ${path}`);
    const model = await readModelFolder(path);
    await show(`computing the axes of ${model.tokenizer.vocabSize} token vectors`);
    const table = distill(model, { ...DISTILL, dimension: flags.dimension });
    await mkdir(out, { recursive: true });
    const sha256 = await writeStaticFile(file, table);
    const { size: bytes } = await stat(file);
    status?.clear();
    const { source, dimension } = table;
    const made = { file, source, tokens: table.scales.length, dimension, bytes, sha256 };
    process.stdout.write(json ? `${JSON.stringify(made)}\n` : resultText(out, made));
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

function resultText(out: string, { file, source, tokens, dimension, bytes, sha256 }: Made): string {
  return `${file}: ${tokens} tokens of ${source}, ${dimension} numbers per token, ${(bytes / 1e6).toFixed(1)} MB
SHA-256 of the table: ${sha256}
Use it with --encoder ${out}
`;
}
