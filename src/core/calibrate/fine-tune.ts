import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OpenEncoder } from "../encoder/open-encoder.ts";
import { InputError } from "../input/input-error.ts";
import type { Random } from "../random/random.ts";
import type { StepProgress } from "./pairs.ts";
import { batchesOf, type Pair } from "./pairs.ts";

export interface TrainingSettings {
  readonly epochs: number;
  /** Pairs per step. */
  readonly batch: number;
  readonly learningRate: number;
}

export const TRAINING_DEFAULTS = {
  /** The learning rate is relative to the components of the table, whose root mean square is 1. */
  static: { epochs: 10, batch: 16, learningRate: 0.003 },
  /** The paper's settings (E4), which are the defaults of sentence-transformers. */
  transformer: { epochs: 4, batch: 16, learningRate: 2e-5 },
} as const;

/** Returns the default settings, or undefined if the encoder cannot be trained. */
export function trainingDefaults({ kind }: OpenEncoder): TrainingSettings | undefined {
  return isTrainable(kind) ? TRAINING_DEFAULTS[kind] : undefined;
}

type Trainable = keyof typeof TRAINING_DEFAULTS;

function isTrainable(kind: OpenEncoder["kind"]): kind is Trainable {
  return Object.hasOwn(TRAINING_DEFAULTS, kind);
}

export interface TrainingOptions extends TrainingSettings {
  readonly random: Random;
  /** Folder for checkpoints and the trained encoder. */
  readonly folder: string;
  /** Number of threads. Default: the number of cores. Other numbers change the last bits of the result. */
  readonly threads?: number | undefined;
  readonly onStep?: ((progress: StepProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Trained {
  /** Folder of the trained encoder, for `openEncoder`. */
  readonly path: string;
  /** Mean loss of each epoch. */
  readonly losses: readonly number[];
}

/** Trains an encoder contrastively. Without epochs it only copies the encoder. */
export async function fineTune(
  base: OpenEncoder,
  texts: readonly string[],
  pairs: readonly Pair[],
  options: TrainingOptions,
): Promise<Trained> {
  const path = join(options.folder, "encoder");
  const epochs = Array.from({ length: options.epochs }, (_, n) =>
    batchesOf(pairs, options.batch, options.random.split(n)),
  );
  if (!isTrainable(base.kind)) throw untrainable(base);
  const losses = await TRAINERS[base.kind]({ base, texts, batches: epochs.flat(), path, options });
  const steps = epochs[0]?.length ?? 0;
  return {
    path,
    losses: epochs.map((_, n) => meanOf(losses.slice(n * steps, (n + 1) * steps))),
  };
}

export function untrainable({ name }: OpenEncoder): InputError {
  return new InputError(
    { file: "--encoder" },
    `${name} cannot be fine-tuned`,
    "give --epochs 0 to fit with it as it is, or --encoder static",
  );
}

interface Job {
  readonly base: OpenEncoder;
  readonly texts: readonly string[];
  /** Batches of all epochs, one after another. */
  readonly batches: readonly (readonly Pair[])[];
  /** Folder to write. */
  readonly path: string;
  readonly options: TrainingOptions;
}

/** Each trainer returns the loss of every step. Its modules are loaded when it is used. */
const TRAINERS: Record<Trainable, (job: Job) => Promise<readonly number[]>> = {
  async static({ base, texts, batches, path, options }) {
    const { readStaticFile, STATIC_FILE, writeStaticFile } = await import(
      "../encoder/static/static-file.ts"
    );
    const { fineTuneStatic } = await import("./fine-tune-static.ts");
    const { learningRate, onStep, signal } = options;
    const { table: start } = await readStaticFile(join(base.path!, STATIC_FILE));
    const training = { table: start, texts, batches, learningRate, onStep, signal };
    const { table, losses } = await fineTuneStatic(training);
    await mkdir(path, { recursive: true });
    await writeStaticFile(join(path, STATIC_FILE), table);
    return losses;
  },
  async transformer({ base, texts, batches, path, options }) {
    const { readModelFolder } = await import("../encoder/transformer/model/model-folder.ts");
    const { writeModelFolder } = await import("../encoder/transformer/model/write-model-folder.ts");
    const { fineTuneTransformer } = await import("./fine-tune-transformer.ts");
    const model = await readModelFolder(base.path!);
    const { tokenizer, maxLength, prefix } = model;
    const { weights, losses } = await fineTuneTransformer({
      model,
      texts: texts.map((text) => tokenizer.encode(prefix + text, maxLength)),
      batches,
      learningRate: options.learningRate,
      checkpoints: join(options.folder, "checkpoints"),
      threads: options.threads,
      onStep: options.onStep,
      signal: options.signal,
    });
    await writeModelFolder(path, model, weights);
    return losses;
  },
};

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
