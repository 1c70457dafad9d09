import { once } from "node:events";
import type { Command } from "commander";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import type { Text } from "../../lab/data/texts.ts";
import { newCommand } from "../shared/command.ts";
import { ENCODER_HELP, withModelsFlag } from "../shared/flags.ts";
import { statusLine } from "../shared/status-line.ts";

interface EncodeFlags {
  readonly encoder: string;
  readonly models?: string | undefined;
}

export function encodeCommand(): Command {
  const command = newCommand({
    name: "encode",
    summary: "print the embeddings of queries",
    description:
      'Prints one line {"id","embedding"} for each query of a file, in the order of the file. A file whose first line starts with { is jsonl in any format that simulate reads. A .csv file or a folder is in the format of MMLU. Any other file is plain text with one query per line.',
    examples: [
      ["Encode a sentence", 'echo "Why is the sky blue?" | joust encode'],
      [
        "Write embeddings to a file, and simulate with them",
        "joust encode data/queries.jsonl --encoder MiniLM | gzip > vectors.jsonl.gz",
        "joust simulate data/queries.jsonl --scores data/scores/routerbench.csv --embeddings vectors.jsonl.gz",
      ],
      ["Use the encoder of a bundle", "joust encode prompts.txt --encoder out/bundle"],
    ],
  })
    .argument("[file]", "file to encode, plain or gzip; - is standard input", "-")
    .option("--encoder <name>", ENCODER_HELP, "static");
  return withModelsFlag(command).action(run);
}

/** Large enough for an encoder to group texts by length, small enough to keep memory constant. */
const BATCH = 256;

async function run(file: string, { encoder: reference, models }: EncodeFlags): Promise<void> {
  const { openEncoderOrBundle } = await import("../../core/calibrate/bundle-encoder.ts");
  const { readTexts, textsOf } = await import("../../lab/data/texts.ts");
  const texts = file === "-" ? textsOf("stdin", process.stdin) : readTexts(file);
  const { encoder } = await openEncoderOrBundle(reference, encoderPlaces(models));
  // Embeddings printed to a terminal already show the progress.
  const status = process.stdout.isTTY ? undefined : statusLine(process.stderr);
  const startedAt = performance.now();
  let count = 0;
  try {
    for await (const batch of batches(texts, BATCH)) {
      await print(encoder, batch);
      count += batch.length;
      const seconds = (performance.now() - startedAt) / 1000;
      status?.show(`${count} queries encoded, ${Math.round(count / seconds)} per second`);
    }
  } finally {
    status?.clear();
    await encoder.close();
  }
}

async function print(encoder: Encoder, batch: readonly Text[]): Promise<void> {
  const embeddings = await encoder.encode(batch.map(({ text }) => text));
  for (const [i, { id }] of batch.entries()) {
    const line = JSON.stringify({ id, embedding: Array.from(embeddings[i]!) });
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
