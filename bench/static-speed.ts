import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { TRAINING_DEFAULTS } from "../src/core/calibrate/fine-tune.ts";
import { fineTuneStatic } from "../src/core/calibrate/fine-tune-static.ts";
import { batchesOf, pairsOf } from "../src/core/calibrate/pairs.ts";
import { openStatic } from "../src/core/encoder/static/open-static.ts";
import { WordPiece } from "../src/core/encoder/tokenizer/word-piece.ts";
import { Random } from "../src/core/random/random.ts";
import { percentile } from "../src/core/statistics.ts";
import type { BenchResult } from "./bench.ts";

const CHARACTERS = 400;
const ROUNDS = 30;

/** Speed of the static encoder on prompts of 400 characters, and of WordPiece compared with @huggingface/tokenizers. */
export async function staticSpeed(texts: readonly string[], minilm: string): Promise<BenchResult> {
  const prompts = texts
    .filter(({ length }) => length >= CHARACTERS)
    .map((text) => text.slice(0, CHARACTERS));
  const begin = performance.now();
  const { encoder } = await openStatic();
  const opened = performance.now() - begin;
  const json = JSON.parse(readFileSync(join(minilm, "tokenizer.json"), "utf8"));
  const ours = WordPiece.fromTokenizerJson(json, "tokenizer.json");
  const theirs = new Tokenizer(json, {});
  const encode = microseconds(prompts, (text) => encoder.encodeText(text));
  const tokens = microseconds(prompts, (text) => ours.tokenIds(text));
  const library = microseconds(prompts.slice(0, 50), (text) => theirs.encode(text));
  return {
    ratios: { "WordPiece time / @huggingface/tokenizers'": tokens / library },
    figures: {
      "static: ms to open": opened,
      "static: us for a 400-character prompt": encode,
      "static: us of this for WordPiece": tokens,
      "static: texts/s per core": 1e6 / encode,
    },
  };
}

/** CPU time per text: the 10th percentile over the rounds. Other processes hardly change CPU time. */
function microseconds(texts: readonly string[], work: (text: string) => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (const text of texts) work(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / texts.length;
  });
  return percentile(rounds, 10);
}

interface OfflineQuery {
  readonly query: string;
  readonly category: string;
}

/** Time of fine-tuning the bundled encoder with CCFT on the offline queries of a jsonl file. */
export async function staticFitSpeed(offline: string): Promise<Record<string, number>> {
  const queries = readFileSync(offline, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as OfflineQuery);
  const names = [...new Set(queries.map(({ category }) => category))];
  const { table } = (await openStatic()).encoder;
  const { epochs, batch, learningRate } = TRAINING_DEFAULTS.static;
  const random = Random.seeded(1);
  const begin = performance.now();
  const pairs = pairsOf(
    queries.map(({ category }) => names.indexOf(category)),
    random,
  );
  const batches = Array.from({ length: epochs }, (_, n) =>
    batchesOf(pairs, batch, random.split(n)),
  );
  const texts = queries.map(({ query }) => query);
  const { losses } = await fineTuneStatic({ table, texts, batches: batches.flat(), learningRate });
  return {
    "static: seconds": (performance.now() - begin) / 1000,
    "static: steps": losses.length,
  };
}
