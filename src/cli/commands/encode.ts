import { once } from "node:events";
import { Command } from "commander";
import { openEncoderOrBundle } from "../../core/calibrate/bundle-encoder.ts";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { DEFAULT_ENCODER } from "../../core/encoder/open-encoder.ts";
import { readTexts, type Text, textsOf } from "../../lab/data/texts.ts";
import { ENCODER_HELP } from "../shared/encoder-flags.ts";
import { folder } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import { statusLine } from "../shared/status-line.ts";

interface EncodeFlags {
  readonly encoder?: string | undefined;
  readonly models?: string | undefined;
}

export function encodeCommand(): Command {
  return new Command("encode")
    .description(
      'Prints {"id","embedding"} for each query of a file, in its order. A file whose first line begins with { is jsonl in any format that simulate reads, a .csv or a folder is MMLU\'s, anything else is plain text with a query a line.',
    )
    .argument(
      "[file]",
      "what to encode, plain or gzip; - or nothing: stdin, jsonl or plain text",
      "-",
    )
    .option("--encoder <name>", `${ENCODER_HELP} (default ${DEFAULT_ENCODER})`)
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"))
    .helpOption("-h, --help", "this text")
    .addHelpText("after", AFTER)
    .action(async (file: string, flags: EncodeFlags) => {
      const texts = file === "-" ? textsOf("stdin", process.stdin) : readTexts(file);
      await printVectors(texts, flags);
    });
}

const AFTER = `
Examples:
  One sentence:
    echo "Why is the sky blue?" | ${JOUST} encode
  Vectors to keep, and a simulation that reads them:
    ${JOUST} encode data/queries.jsonl --encoder MiniLM | gzip > vectors.jsonl.gz
    ${JOUST} simulate data/queries.jsonl --scores data/scores/routerbench.csv --embeddings vectors.jsonl.gz
  The encoder of a calibration bundle:
    ${JOUST} encode prompts.txt --encoder out/bundle
`;

/** Enough that an encoder can sort by length, and few enough that memory stays flat. */
const BATCH = 256;

async function printVectors(texts: AsyncIterable<Text>, flags: EncodeFlags): Promise<void> {
  const { encoder: reference = DEFAULT_ENCODER, models } = flags;
  const { encoder } = await openEncoderOrBundle(reference, encoderPlaces(models));
  // Where vectors go to the terminal, they are progress enough.
  const status = process.stdout.isTTY ? undefined : statusLine(process.stderr);
  const start = performance.now();
  let count = 0;
  try {
    for await (const batch of batches(texts, BATCH)) {
      await print(encoder, batch);
      count += batch.length;
      const seconds = (performance.now() - start) / 1000;
      status?.show(`${count} queries encoded, ${Math.round(count / seconds)} a second`);
    }
  } finally {
    status?.clear();
    await encoder.close();
  }
}

async function print(encoder: Encoder, batch: readonly Text[]): Promise<void> {
  const vectors = await encoder.encode(batch.map(({ text }) => text));
  for (const [i, { id }] of batch.entries()) {
    const line = JSON.stringify({ id, embedding: Array.from(vectors[i]!) });
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  }
}

async function* batches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
