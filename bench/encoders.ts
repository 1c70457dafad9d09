import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fineTune, TRAINING_DEFAULTS } from "../src/core/calibrate/fine-tune.ts";
import { pairsOf } from "../src/core/calibrate/pairs.ts";
import { encodeAll } from "../src/core/encoder/encode-all.ts";
import { type OpenEncoder, openEncoder } from "../src/core/encoder/open-encoder.ts";
import { Random } from "../src/core/random/random.ts";
import type { Table } from "../src/lab/report/table.ts";
import { mean, meanInterval } from "../src/lab/statistics.ts";
import {
  accuracies,
  accuracy,
  type Benchmark,
  DRAWS,
  type Draw,
  type Embed,
  HELD_OUT,
  MINILM,
  OFFLINE,
  openBenchmarks,
} from "./category-accuracy.ts";
import { Finished } from "./finished.ts";
import type { BenchResult } from "./main.ts";
import { DOCS, publish } from "./publish.ts";
import { tryVariants } from "./static-tried.ts";

const ENCODERS = [
  { name: "hash", reference: "hash" },
  { name: "static", reference: "static" },
  { name: "static + CCFT", reference: "static", kind: "static" },
  { name: "MiniLM", reference: MINILM },
  { name: "MiniLM + CCFT", reference: MINILM, kind: "transformer" },
] as const;

/** MiniLM's fine-tuning on 70 queries, ten times, is an hour for a column that decides nothing. */
const TOO_LONG = { encoder: "MiniLM + CCFT", benchmark: "llmrouter" };

/** Vectors that took long are kept. */
const VECTORS = resolve(import.meta.dirname, "../out/vectors");

/** Category accuracy of every encoder, and what was tried for the static one. Writes docs/encoders.md. */
export async function encoders(): Promise<BenchResult> {
  const benchmarks = await openBenchmarks();
  const figures: Record<string, number> = {};
  const rows: Table["rows"][number][] = [];
  for (const { name, reference, ...more } of ENCODERS) {
    const cells = [];
    for (const benchmark of benchmarks) {
      if (name === TOO_LONG.encoder && benchmark.name === TOO_LONG.benchmark) {
        cells.push(null);
        continue;
      }
      const encoder = await openEncoder(reference);
      const found =
        "kind" in more
          ? await tunedAccuracies(encoder, more.kind, benchmark)
          : await accuracies(benchmark, (texts) =>
              encodeAll(encoder, texts, { cacheDir: VECTORS }),
            );
      await encoder.close();
      figures[`${name}, ${benchmark.name}`] = mean(found);
      cells.push(meanInterval(found));
      process.stderr.write(`${name}, ${benchmark.name}: ${mean(found).toFixed(4)}\n`);
    }
    rows.push([name, ...cells]);
  }
  const columns = benchmarks.map(
    ({ name, title }) => ({ key: name, title, kind: "interval" }) as const,
  );
  const encoderColumn = { key: "encoder", title: "encoder", kind: "text" } as const;
  const table = { title: "Category accuracy [95%]", columns: [encoderColumn, ...columns], rows };
  const tried = await tryVariants(benchmarks);
  const triedColumn = { key: "tried", title: "tried", kind: "text" } as const;
  const triedTable: Table = {
    title: "The static encoder, one thing changed at a time",
    columns: [triedColumn, ...columns.map((column) => ({ ...column, kind: "number" }) as const)],
    rows: tried.map(({ name, means }) => [name, ...means]),
  };
  await writeFile(
    resolve(DOCS, "encoders.md"),
    document(await publish("encoders", table), await publish("static-encoder", triedTable)),
  );
  return { ratios: ratiosOf(figures), figures };
}

function ratiosOf(figures: Readonly<Record<string, number>>): Record<string, number> {
  const ratio = (a: string, b: string) =>
    figures[`${a}, routerbench`]! / figures[`${b}, routerbench`]!;
  return {
    "static / MiniLM, RouterBench": ratio("static", "MiniLM"),
    "static + CCFT / MiniLM, RouterBench": ratio("static + CCFT", "MiniLM"),
    "static + CCFT / MiniLM + CCFT, RouterBench": ratio("static + CCFT", "MiniLM + CCFT"),
  };
}

/** Fine-tuned anew on the offline queries of every draw. */
async function tunedAccuracies(
  base: OpenEncoder,
  kind: keyof typeof TRAINING_DEFAULTS,
  { name, draws }: Benchmark,
): Promise<number[]> {
  const found: number[] = [];
  await base.close(); // training needs the memory
  const finished = new Finished("bench-encoders");
  for (const [n, draw] of draws.entries()) {
    const key = [base.identity, TRAINING_DEFAULTS[kind], name, n, HELD_OUT];
    found.push(await finished.get(key, () => tunedAccuracy(base, kind, draw)));
    process.stderr.write(`${base.name} + CCFT, ${name}, draw ${n + 1}: ${found[n]!.toFixed(4)}\n`);
  }
  return found;
}

async function tunedAccuracy(
  base: OpenEncoder,
  kind: keyof typeof TRAINING_DEFAULTS,
  draw: Draw,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "joust-bench-"));
  try {
    const random = Random.seeded(1);
    const pairs = pairsOf(draw.offline.categories, random.split("pairs"));
    const { path } = await fineTune(base, draw.offline.texts, pairs, {
      ...TRAINING_DEFAULTS[kind],
      random: random.split("epochs"),
      folder,
    });
    const tuned = await openEncoder(path);
    const embed: Embed = (texts) => encodeAll(tuned, texts);
    try {
      return await accuracy(draw, embed);
    } finally {
      await tuned.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

function document(table: string, tried: string): string {
  return `# Encoders, measured

Category accuracy: the share of queries that are nearest, by cosine, to the mean of ${OFFLINE} other queries of
their own category; it is what routing by categories can rest on. ${DRAWS} draws of those ${OFFLINE}, the same for
every encoder; of the rest at most ${HELD_OUT.toLocaleString("en")} queries a draw are asked for. + CCFT: fine-tuned, in each draw
anew, on the ${OFFLINE} queries a category and nothing else, with the settings of \`joust fit\`. Intervals are over draws.

${table}
As [CSV](tables/encoders.csv) and [LaTeX](tables/encoders.tex). \`hash\` is a bag of hashed words and needs no model;
\`static\` is the bundled table of token vectors, the default; MiniLM is all-MiniLM-L6-v2 in float32.
(Its fine-tuning on llmrouter's 70 queries, ten times, would take an hour and was not run.)

## The static encoder: what was tried

Chosen on llmrouter and MMLU; RouterBench was looked at but had no say, so its column is the one to believe.
(llmrouter has questions of some of the same benchmarks, without their options.) The first five rows add one
idea each, the others change one thing of what is bundled.

${tried}
As [CSV](tables/static-encoder.csv) and [LaTeX](tables/static-encoder.tex). What it says:

- **What enters the first layer beats what leaves the last.** A token alone in a sentence means little to the
  transformer; its input embedding has what training on a billion sentences has put there. So distilling needs no
  forward pass, and the file is the same on every machine.
- **Axes as met.** Half of the vocabulary hardly ever occurs. Mean and axes over tokens weighted by Zipf's law keep
  the differences that occur in texts, and evening the variances out takes weight from what all texts share.
- **Once is enough.** A mean over all tokens is half commas and "the"; the set of tokens is not.
- **Text adds domain knowledge, not much else.** Regression onto MiniLM's sentence vectors helps where the texts are like
  those it saw, and costs what it did not see. It would also tie the file to texts that are not ours to ship.
- **Fine-tuning with one second moment** for the whole table: with one for each weight, as Adam has it, a word that occurs
  once moves as far as one that marks its category.

Made by \`npm run bench -- encoders\`.
`;
}
