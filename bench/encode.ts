import { availableParallelism, loadavg } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { Encoder } from "../src/core/encoder/common/encoder.ts";
import { openTransformer } from "../src/core/encoder/transformer/inference/transformer-encoder.ts";
import { mean } from "../src/core/statistics.ts";
import { loadDataset } from "../src/lab/data/load.ts";
import type { BenchResult } from "./bench.ts";
import { accuracies, MINILM, openBenchmarks } from "./category-accuracy.ts";
import { dataFile } from "./datasets.ts";
import { median } from "./median.ts";
import { pythonWithSentenceTransformers } from "./python.ts";
import { openSentenceTransformers } from "./sentence-transformers.ts";
import { staticSpeed } from "./static-speed.ts";

const THREADS = availableParallelism();

/** An encoder to compare. */
export interface Contender {
  readonly name: string;
  /** Seconds to encode the texts, with one call per text or one call for all. */
  time(texts: readonly string[], one: boolean): Promise<number>;
  close(): Promise<void>;
}

/** Speed of MiniLM on 1,000 real queries in float32 and int8, compared with sentence-transformers, and of the static encoder. */
export async function encode(): Promise<BenchResult> {
  const file = dataFile("routerbench-queries/queries.jsonl.gz");
  const { queries } = await loadDataset(file, { unscored: true });
  const texts = Array.from(
    { length: TEXTS },
    (_, i) => queries[Math.floor((i * queries.length) / TEXTS)]!.text,
  );
  const before = loadavg()[0]!;
  const ours = {
    float32: await openTransformer(MINILM, { threads: THREADS, cacheSize: 0 }),
    int8: await openTransformer(MINILM, { threads: THREADS, cacheSize: 0, int8: true }),
  };
  const parts = [
    await speed(texts, ours),
    await concurrentCalls(texts, ours),
    await categoryAccuracy(ours),
    await staticSpeed(
      queries.map(({ text }) => text),
      MINILM,
    ),
  ];
  await ours.float32.close();
  await ours.int8.close();
  return {
    ratios: Object.assign({}, ...parts.map(({ ratios }) => ratios)),
    figures: Object.assign(
      { threads: THREADS, "load before": before, "load after": loadavg()[0]! },
      ...parts.map(({ figures }) => figures),
    ),
  };
}

const TEXTS = 1000;

interface Ours {
  readonly float32: Encoder;
  readonly int8: Encoder;
}

/** Measures one text at a time and batches. */
async function speed(texts: readonly string[], { float32, int8 }: Ours): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  const python = await pythonWithSentenceTransformers();
  const theirs = python ? await openSentenceTransformers(python, MINILM, THREADS) : undefined;
  const contenders = [...(theirs ? [theirs] : []), timed("float32", float32), timed("int8", int8)];
  for (const contender of contenders) await contender.time(texts.slice(0, 32), false);
  for (const one of [true, false]) {
    const blocks = one ? blocksOf(texts, 50) : [texts, texts, texts];
    const seconds = await compare(contenders, blocks, one);
    for (const [c, { name }] of contenders.entries()) {
      const each = blocks.map((block, b) => seconds[b]![c]! / block.length);
      if (one) figures[`${name}: ms for one text`] = 1000 * median(each);
      else figures[`${name}: texts/s in batches`] = 1 / median(each);
      if (!theirs || c === 0) continue;
      const against = median(seconds.map((row) => row[c]! / row[0]!));
      if (one) ratios[`${name} latency / sentence-transformers'`] = against;
      else ratios[`${name} throughput / sentence-transformers'`] = 1 / against;
    }
  }
  await theirs?.close();
  return { ratios, figures };
}

/** Measures concurrent calls with one text each. */
async function concurrentCalls(texts: readonly string[], ours: Ours): Promise<BenchResult> {
  const figures: Record<string, number> = {};
  for (const [name, encoder] of Object.entries(ours)) {
    const start = performance.now();
    await Promise.all(texts.map((text) => encoder.encode([text])));
    const seconds = (performance.now() - start) / 1000;
    figures[`${name}: texts/s, ${texts.length} concurrent calls`] = texts.length / seconds;
  }
  return { ratios: {}, figures };
}

async function categoryAccuracy({ float32, int8 }: Ours): Promise<BenchResult> {
  const [routerbench] = await openBenchmarks();
  const exact = mean(await accuracies(routerbench!, (texts) => float32.encode(texts)));
  const rough = mean(await accuracies(routerbench!, (texts) => int8.encode(texts)));
  return {
    ratios: { "int8 category accuracy / float32's": rough / exact },
    figures: { "float32: category accuracy": exact, "int8: category accuracy": rough },
  };
}

function timed(name: string, encoder: Encoder): Contender {
  return {
    name,
    async time(texts, one) {
      const start = performance.now();
      if (one) for (const text of texts) await encoder.encode([text]);
      else await encoder.encode(texts);
      return (performance.now() - start) / 1000;
    },
    close: async () => {},
  };
}

/**
 * seconds[b][c]: time of contender c for block b. The contenders alternate block by block and take
 * turns in being first, so that disturbances on the machine affect all of them equally.
 */
async function compare(
  contenders: readonly Contender[],
  blocks: readonly (readonly string[])[],
  one: boolean,
): Promise<number[][]> {
  const seconds: number[][] = [];
  for (const [b, block] of blocks.entries()) {
    const row = contenders.map(() => 0);
    for (let i = 0; i < contenders.length; i++) {
      const c = (b + i) % contenders.length;
      await setTimeout(REST_MS);
      row[c] = await contenders[c]!.time(block, one);
    }
    seconds.push(row);
    process.stderr.write(
      `${one ? "one at a time" : "in batches"}, block ${b + 1} of ${blocks.length}: ${contenders.map(({ name }, c) => `${name} ${row[c]!.toFixed(2)} s`).join(", ")}\n`,
    );
  }
  return seconds;
}

/** Pause in which the busy-waiting threads of the previous contender stop. */
const REST_MS = 500;

function blocksOf(texts: readonly string[], size: number): (readonly string[])[] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, b) =>
    texts.slice(b * size, (b + 1) * size),
  );
}
