import { resolve } from "node:path";
import { fineTune, TRAINING_DEFAULTS } from "../src/core/calibrate/fine-tune.ts";
import { pairsOf } from "../src/core/calibrate/pairs.ts";
import { encodeAll } from "../src/core/encoder/encode-all.ts";
import { type OpenEncoder, openEncoder } from "../src/core/encoder/open-encoder.ts";
import { Random } from "../src/core/random/random.ts";
import { mean, meanInterval } from "../src/core/statistics.ts";
import type { Table } from "../src/lab/report/table.ts";
import type { BenchResult } from "./bench.ts";
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
import { inFolder } from "./gateway-process.ts";
import { NumberCache } from "./number-cache.ts";
import { publish, writeDoc } from "./publish.ts";

const ENCODERS = [
  { name: "hash", reference: "hash" },
  { name: "static", reference: "static" },
  { name: "static + CCFT", reference: "static", kind: "static" },
  { name: "MiniLM", reference: MINILM },
  { name: "MiniLM + CCFT", reference: MINILM, kind: "transformer" },
] as const;

/** Fine-tuning MiniLM on 70 queries in ten draws takes an hour and would decide nothing. */
const TOO_LONG = { encoder: "MiniLM + CCFT", benchmark: "llmrouter" };

/** Cache of the embeddings of slow encoders. */
const VECTORS = resolve(import.meta.dirname, "../out/vectors");

/** Measures the category accuracy of every encoder. Writes docs/encoders.md. */
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
  await writeDoc("encoders.md", document(await publish("encoders", table)));
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

/** Fine-tunes the encoder in every draw on its offline queries. */
async function tunedAccuracies(
  base: OpenEncoder,
  kind: keyof typeof TRAINING_DEFAULTS,
  { name, draws }: Benchmark,
): Promise<number[]> {
  const found: number[] = [];
  await base.close(); // training needs the memory
  const cache = new NumberCache("bench-encoders");
  for (const [n, draw] of draws.entries()) {
    const key = [base.identity, TRAINING_DEFAULTS[kind], name, n, HELD_OUT];
    found.push(await cache.get(key, () => tunedAccuracy(base, kind, draw)));
    process.stderr.write(`${base.name} + CCFT, ${name}, draw ${n + 1}: ${found[n]!.toFixed(4)}\n`);
  }
  return found;
}

function tunedAccuracy(
  base: OpenEncoder,
  kind: keyof typeof TRAINING_DEFAULTS,
  draw: Draw,
): Promise<number> {
  return inFolder(async (folder) => {
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
  });
}

function document(table: string): string {
  return `# Encoders, measured

Category accuracy is the share of queries that are nearest, by cosine, to the mean of their own category. Routing by categories depends
on this number.

- The mean of a category is taken over ${OFFLINE} other queries. These were drawn ${DRAWS} times, with the same draws for every encoder. Each draw
  was measured on at most ${HELD_OUT.toLocaleString("en")} of the other queries. Intervals are over the draws.
- "+ CCFT" means that the encoder was fine-tuned in each draw on its ${OFFLINE} queries per category only, with the default settings of
  \`joust fit\`.
- The RouterBench queries are a stand-in: their MMLU, GSM8K, HellaSwag and MBPP texts differ from RouterBench's
  ([lab.md](lab.md#public-data)).

${table}
The table is also available as [CSV](tables/encoders.csv) and [LaTeX](tables/encoders.tex). \`hash\` is a hashed bag of words and needs no model.
\`static\`, the default, is the bundled table of token vectors. MiniLM is all-MiniLM-L6-v2 in float32. Its fine-tuning
on the 70 queries of llmrouter was not measured, because ten draws would take an hour.

[Decision 69](decisions/0069-static-encoder.md) compares variants of the static encoder.

Generated by \`npm run bench -- encoders\`.
`;
}
