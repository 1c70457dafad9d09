import { existsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { categoryEmbeddings, nearestCentroidAccuracy } from "../src/calibrate/categories.ts";
import type { Encoder } from "../src/encoder/encoder.ts";
import { openTransformer } from "../src/encoder/transformer/transformer-encoder.ts";
import { Random } from "../src/random/random.ts";
import type { Dataset } from "../src/simulate/dataset.ts";
import { loadDataset } from "../src/simulate/load/load.ts";
import { takeOffline } from "../src/simulate/offline.ts";
import type { BenchResult } from "./main.ts";
import { pythonWithSentenceTransformers } from "./python.ts";
import { openSentenceTransformers } from "./sentence-transformers.ts";
import { staticSpeed } from "./static-speed.ts";

const SHARED = resolve(import.meta.dirname, "../../shared");
const MODEL = resolve(SHARED, "models/all-MiniLM-L6-v2");
const QUERIES = resolve(SHARED, "data/routerbench-queries/queries.jsonl.gz");
const THREADS = availableParallelism();

/** Seconds for the texts, one call each or all in one. */
export interface Contender {
  readonly name: string;
  time(texts: readonly string[], one: boolean): Promise<number>;
  close(): Promise<void>;
}

/** MiniLM on 1,000 real queries in float32 and in 8 bits, sentence-transformers beside it. */
export async function encode(): Promise<BenchResult> {
  for (const path of [MODEL, QUERIES]) {
    if (!existsSync(path)) throw new Error(`${path} is missing: this bench needs ../shared`);
  }
  const dataset = await loadDataset(QUERIES, { unscored: true });
  const step = dataset.queries.length / 1000;
  const texts = Array.from({ length: 1000 }, (_, i) => dataset.queries[Math.floor(i * step)]!.text);

  const figures: Record<string, number> = { threads: THREADS, "load before": loadavg()[0]! };
  const ratios: Record<string, number> = {};
  const float = await openTransformer(MODEL, { threads: THREADS, cacheSize: 0 });
  const int8 = await openTransformer(MODEL, { threads: THREADS, cacheSize: 0, int8: true });
  const python = await pythonWithSentenceTransformers();
  const theirs = python ? [await openSentenceTransformers(python, MODEL, THREADS)] : [];
  const contenders = [...theirs, timed("float32", float), timed("int8", int8)];
  for (const contender of contenders) await contender.time(texts.slice(0, 32), false);

  for (const one of [true, false]) {
    // Blocks in turn: whatever else the machine does meets all alike.
    const blocks = one ? blocksOf(texts, 50) : [texts, texts, texts];
    const seconds = await compare(contenders, blocks, one);
    for (const [c, { name }] of contenders.entries()) {
      const each = blocks.map((block, b) => seconds[b]![c]! / block.length);
      if (one) figures[`${name}: ms for one text`] = 1000 * median(each);
      else figures[`${name}: texts/s in batches`] = 1 / median(each);
      if (theirs.length === 0 || c === 0) continue;
      const against = median(seconds.map((row) => row[c]! / row[0]!));
      if (one) ratios[`${name} latency / sentence-transformers'`] = against;
      else ratios[`${name} throughput / sentence-transformers'`] = 1 / against;
    }
  }
  for (const contender of contenders.slice(0, theirs.length)) await contender.close();

  for (const [name, encoder] of Object.entries({ float32: float, int8 })) {
    const start = performance.now();
    await Promise.all(texts.map((text) => encoder.encode([text])));
    figures[`${name}: texts/s from 1000 callers at once`] = 1e6 / (performance.now() - start);
  }
  const exact = await categoryAccuracy(dataset, float);
  const rough = await categoryAccuracy(dataset, int8);
  figures["float32: category accuracy"] = exact;
  figures["int8: category accuracy"] = rough;
  ratios["int8 / float32 category accuracy"] = rough / exact;
  await float.close();
  await int8.close();
  const quick = await staticSpeed(
    dataset.queries.map(({ text }) => text),
    MODEL,
  );
  Object.assign(ratios, quick.ratios);
  Object.assign(figures, quick.figures);
  figures["load after"] = loadavg()[0]!;
  return { ratios, figures };
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

/** seconds[b][c], every block with each contender, who takes turns at being first. */
async function compare(
  contenders: readonly Contender[],
  blocks: readonly (readonly string[])[],
  one: boolean,
): Promise<number[][]> {
  const seconds: number[][] = [];
  for (const [b, block] of blocks.entries()) {
    const row = contenders.map(() => 0);
    for (let turn = 0; turn < contenders.length; turn++) {
      const c = (b + turn) % contenders.length;
      await setTimeout(REST);
      row[c] = await contenders[c]!.time(block, one);
    }
    seconds.push(row);
    process.stderr.write(
      `${one ? "one at a time" : "in batches"}, block ${b + 1} of ${blocks.length}: ${contenders.map(({ name }, c) => `${name} ${row[c]!.toFixed(2)} s`).join(", ")}\n`,
    );
  }
  return seconds;
}

/** Milliseconds: threads of the one before, waiting for more in a loop, have given up by then. */
const REST = 500;

/** Share of the queries nearest to the mean of 5 others of their category; mean of 10 draws. */
async function categoryAccuracy(dataset: Dataset, encoder: Encoder): Promise<number> {
  const texts = dataset.queries.map(({ text }) => text);
  const vectors = await encoder.encode(texts);
  const vectorOf = new Map(texts.map((text, i) => [text, vectors[i]!]));
  const random = Random.seeded(1);
  let sum = 0;
  for (let draw = 0; draw < 10; draw++) {
    const { offline, heldOut } = takeOffline(dataset, 5, random.split(draw));
    const embed = (texts: readonly string[]) => texts.map((text) => vectorOf.get(text)!);
    const xi = categoryEmbeddings(embed(offline.texts), offline.categories);
    sum += nearestCentroidAccuracy(xi, embed(heldOut.texts), heldOut.categories);
  }
  return sum / 10;
}

function blocksOf(texts: readonly string[], size: number): (readonly string[])[] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, b) =>
    texts.slice(b * size, (b + 1) * size),
  );
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
