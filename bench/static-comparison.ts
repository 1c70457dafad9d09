import { tokenFrequencies } from "../src/core/encoder/static/distill.ts";
import { openStatic } from "../src/core/encoder/static/open-static.ts";
import { openTransformer } from "../src/core/encoder/transformer/inference/transformer-encoder.ts";
import { readModelFolder } from "../src/core/encoder/transformer/model/model-folder.ts";
import { mean as meanOf, normalized } from "../src/core/linalg/linalg.ts";
import { mean } from "../src/core/statistics.ts";
import { accuracies, accuracy, type Benchmark, MINILM } from "./category-accuracy.ts";
import {
  BUNDLED,
  embedder,
  regress,
  type Sum,
  TableMaker,
  type TableOptions,
  type Training,
  tuneVariant,
} from "./static-variants.ts";

/** A variant of the static encoder and its results. */
export interface VariantResult {
  readonly name: string;
  /** Mean accuracy on each benchmark. */
  readonly means: readonly number[];
}

const everyTime = (n: number) => n;
const fourthRoot = (n: number) => Math.sqrt(Math.sqrt(n));

/** From the plain idea to the bundled table, then one change of the bundled table at a time. */
const TABLES: readonly [name: string, options: TableOptions, sum?: Sum][] = [
  [
    "plain: output of the last layer, unweighted axes, mean of all tokens",
    { layer: 6, axes: "unweighted", flatten: 0, dimension: 256 },
    { count: everyTime },
  ],
  ["each distinct token counts once", { layer: 6, axes: "unweighted", flatten: 0, dimension: 256 }],
  [
    "and input of the first layer instead of the output of the last",
    { layer: 0, axes: "unweighted", flatten: 0, dimension: 256 },
  ],
  ["and axes weighted by token frequency (Zipf)", { ...BUNDLED, flatten: 0 }],
  ["and each axis divided by sd^(3/4) (bundled encoder)", BUNDLED],
  ["each axis divided by sd^(1/2)", { ...BUNDLED, flatten: 2 }],
  ["each axis divided by its sd (whitening)", { ...BUNDLED, flatten: 4 }],
  ["unweighted axes", { ...BUNDLED, axes: "unweighted" }],
  ["output of layer 1", { ...BUNDLED, layer: 1 }],
  ["output of layer 3", { ...BUNDLED, layer: 3 }],
  ["output of the last layer", { ...BUNDLED, layer: 6 }],
  ["128 dimensions", { ...BUNDLED, dimension: 128 }],
  ["192 dimensions", { ...BUNDLED, dimension: 192 }],
  ["320 dimensions", { ...BUNDLED, dimension: 320 }],
  ["384 dimensions", { ...BUNDLED, dimension: 384 }],
  ["a token that occurs n times counts as n^(1/4)", BUNDLED, { count: fourthRoot }],
  ["a token that occurs n times counts n times", BUNDLED, { count: everyTime }],
  ["hashed pairs of neighbouring tokens added, weight 0.3", BUNDLED, { pairs: 0.3 }],
];

const TRAININGS: readonly [name: string, training: Training][] = [
  [
    "CCFT, learning rate 0.003, 10 epochs (default of joust fit)",
    { learningRate: 0.003, epochs: 10, moments: "one" },
  ],
  ["CCFT, learning rate 0.001", { learningRate: 0.001, epochs: 10, moments: "one" }],
  ["CCFT, learning rate 0.01", { learningRate: 0.01, epochs: 10, moments: "one" }],
  ["CCFT, 4 epochs", { learningRate: 0.003, epochs: 4, moments: "one" }],
  [
    "CCFT, Adam with one second moment per weight",
    { learningRate: 0.003, epochs: 10, moments: "each" },
  ],
];

export async function compareVariants(benchmarks: readonly Benchmark[]): Promise<VariantResult[]> {
  const model = await readModelFolder(MINILM);
  const tables = new TableMaker(model);
  const tokenIds = remembered((text) => model.tokenizer.tokenIds(text));
  const out: VariantResult[] = [];
  const record = async (name: string, of: (benchmark: Benchmark) => Promise<number[]>) => {
    const means = [];
    for (const benchmark of benchmarks) means.push(mean(await of(benchmark)));
    out.push({ name, means });
    process.stderr.write(`${name}: ${means.map((value) => value.toFixed(4)).join(" ")}\n`);
  };
  const tryTable = (name: string, vectors: Float64Array, dimension: number, sum?: Sum) => {
    const embed = embedder(tokenIds, vectors, dimension, sum);
    return record(name, (benchmark) => accuracies(benchmark, embed));
  };

  for (const [name, options, sum] of TABLES) {
    await tryTable(name, await tables.make(options), options.dimension, sum);
  }
  const bundled = await tables.make(BUNDLED);
  const { dimension } = BUNDLED;
  await tryTable("rows of length 1", unitRows(bundled, dimension), dimension);
  await tryTable("frequent tokens count less (SIF, a = 0.001)", bundled, dimension, {
    weight: smoothInverseFrequency(tokenFrequencies(tables.tokenizer)),
  });
  await tryTable("every number is one token", bundled, dimension, {
    alias: numbersAsOne(tables.tokenizer.tokens),
  });

  const { encoder } = await openStatic();
  await record("in 8 bits, as in the package", (benchmark) =>
    accuracies(benchmark, (texts) => encoder.encode(texts)),
  );
  await tryRegression();
  for (const [name, training] of TRAININGS) {
    await record(name, async ({ draws }) => {
      const found = [];
      for (const draw of draws) {
        const tuned = tuneVariant(encoder.table, draw, training);
        found.push(await accuracy(draw, (texts) => tuned.encode(texts)));
      }
      return found;
    });
  }
  return out;

  /** Fits a table to MiniLM's embeddings of the texts of llmrouter, starting from its last layer. */
  async function tryRegression(): Promise<void> {
    const texts = benchmarks.find(({ name }) => name === "llmrouter")!.texts;
    const teacher = await openTransformer(MINILM);
    const targets = await teacher.encode(texts);
    await teacher.close();
    const centre = meanOf(targets);
    const centred = targets.map((row) => row.map((value, i) => value - centre[i]!));
    const distinct = texts.map((text) => Int32Array.from(new Set(tokenIds(text))));
    const { hiddenSize } = model.architecture;
    const start = await tables.centred(model.architecture.layers);
    for (const [passes, words] of [
      [1, "1 pass"],
      [5, "5 passes"],
    ] as const) {
      await tryTable(
        `last layer regressed onto MiniLM's embeddings of ${texts.length} texts of llmrouter, ${words}`,
        regress(start, hiddenSize, distinct, centred, passes),
        hiddenSize,
      );
    }
  }
}

function remembered(tokenIds: (text: string) => Int32Array): (text: string) => Int32Array {
  const known = new Map<string, Int32Array>();
  return (text) => {
    const ids = known.get(text) ?? tokenIds(text);
    known.set(text, ids);
    return ids;
  };
}

function unitRows(vectors: Float64Array, dimension: number): Float64Array {
  const out = vectors.slice();
  for (let start = 0; start < out.length; start += dimension) {
    out.set(normalized(out.subarray(start, start + dimension)), start);
  }
  return out;
}

/** Arora et al. 2017: a / (a + p). */
function smoothInverseFrequency(frequencies: Float64Array): (token: number) => number {
  const total = frequencies.reduce((sum, frequency) => sum + frequency, 0);
  return (token) => 0.001 / (0.001 + frequencies[token]! / total);
}

function numbersAsOne(tokens: readonly string[]): (token: number) => number {
  const isNumber = Uint8Array.from(tokens, (token) => (/^(##)?\d+$/.test(token) ? 1 : 0));
  const zero = tokens.indexOf("0");
  return (token) => (isNumber[token] ? zero : token);
}
