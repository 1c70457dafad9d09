/** Contrastive fine-tuning (CCFT) of all weights of a transformer, with AdamW and without dropout. */
import type { Tensor } from "../encoder/transformer/model/safetensors.ts";
import {
  TrainableEncoder,
  type TrainableEncoderOptions,
  type TransformerModel,
} from "../encoder/transformer/training/trainable-encoder.ts";
import { InputError } from "../input/input-error.ts";
import { ADAMW, AdamW, globalNorm } from "./adamw.ts";
import type { Pair, StepProgress } from "./pairs.ts";
import { TrainingCheckpoint } from "./training-checkpoint.ts";

export interface TransformerTraining extends TrainableEncoderOptions {
  readonly model: TransformerModel & { readonly path: string };
  /** Token ids of each text. */
  readonly texts: readonly ArrayLike<number>[];
  /** Batches of all epochs, one after another. */
  readonly batches: readonly (readonly Pair[])[];
  /** Peak learning rate. The rate rises linearly over the first tenth of the steps, then falls linearly to 0. */
  readonly learningRate: number;
  /** Folder of checkpoints. The training resumes if there is one. */
  readonly checkpoints?: string | undefined;
  /** Milliseconds between checkpoints. Default: a minute. */
  readonly checkpointEvery?: number | undefined;
  readonly onStep?: ((progress: StepProgress) => void) | undefined;
  /** Stops the training after the current step and saves a checkpoint. */
  readonly signal?: AbortSignal | undefined;
}

export interface TrainedTransformer {
  readonly weights: ReadonlyMap<string, Tensor>;
  /** Loss of each batch before its step. */
  readonly losses: readonly number[];
}

/**
 * Trains a transformer. On one machine, equal arguments give equal bits, also if the
 * training was stopped or killed and then resumed from its checkpoints.
 */
export async function fineTuneTransformer(
  training: TransformerTraining,
): Promise<TrainedTransformer> {
  const { batches, learningRate, signal, onStep } = training;
  signal?.throwIfAborted();
  const encoder = new TrainableEncoder(training.model, training.texts, training);
  const optimizer = new AdamW(encoder.weights);
  const checkpoint = checkpointOf(training, encoder, optimizer);
  const rates = batches.map((_, step) => learningRate * schedule(step, batches.length));
  try {
    const losses = (await checkpoint?.restore()) ?? [];
    const pace = new Pace(training, losses.length);
    while (losses.length < batches.length) {
      const step = losses.length;
      const loss = await encoder.loss(batches[step]!);
      const norm = globalNorm(encoder.gradients);
      if (!Number.isFinite(loss + norm)) throw diverged(training, step);
      optimizer.update(encoder.gradients, norm, step + 1, rates[step]!);
      losses.push(loss);
      const millisecondsLeft = pace.left(losses.length);
      onStep?.({ step: losses.length, steps: batches.length, loss, millisecondsLeft });
      if (signal?.aborted || checkpoint?.isDue()) await checkpoint?.save(losses);
      signal?.throwIfAborted();
    }
    const decay = rates.reduce((product, rate) => product * (1 - rate * ADAMW.weightDecay), 1);
    return { weights: encoder.finished(decay), losses };
  } finally {
    await encoder.release();
  }
}

/** Returns the learning rate of a step (counted from 0) as a share of the peak. */
export function schedule(step: number, steps: number): number {
  const warmUp = Math.ceil(steps / 10);
  return step < warmUp ? step / warmUp : (steps - step) / (steps - warmUp);
}

function checkpointOf(
  { checkpoints, checkpointEvery = 60_000, ...training }: TransformerTraining,
  { weights }: TrainableEncoder,
  { means, squares }: AdamW,
): TrainingCheckpoint | undefined {
  if (checkpoints === undefined) return undefined;
  const { model, texts, batches, learningRate } = training;
  const plan = { learningRate, batches, texts: texts.map((ids) => Array.from(ids)) };
  const initial = [...model.weights.values()].map(({ data }) => data);
  const state = { weights, means, squares };
  return new TrainingCheckpoint(checkpoints, { plan, initial, state, every: checkpointEvery });
}

/** The error of a step with a loss or gradient that is not finite. No weight has changed yet. */
function diverged({ model, learningRate, checkpoints }: TransformerTraining, step: number) {
  const kept = checkpoints === undefined ? "" : `; the last checkpoint is kept in ${checkpoints}`;
  return new InputError(
    { file: model.path },
    `training diverged: the loss or its gradient at step ${step + 1} is not a finite number${kept}`,
    `train with a learning rate below ${learningRate}`,
  );
}

/** Estimates the remaining time from the number of tokens, which differs between batches. */
class Pace {
  readonly #begin = performance.now();
  /** Number of tokens before each step; the last entry is the total. */
  readonly #tokens = [0];
  readonly #first: number;

  constructor({ texts, batches }: TransformerTraining, first: number) {
    this.#first = first;
    for (const batch of batches) {
      const members = new Set(batch.flatMap(({ a, b }) => [a, b]));
      const tokens = [...members].reduce((sum, k) => sum + texts[k]!.length, 0);
      this.#tokens.push(this.#tokens.at(-1)! + tokens);
    }
  }

  left(step: number): number {
    const done = this.#tokens[step]! - this.#tokens[this.#first]!;
    const left = this.#tokens.at(-1)! - this.#tokens[step]!;
    return ((performance.now() - this.#begin) / done) * left;
  }
}
