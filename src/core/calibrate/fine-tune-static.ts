/** Contrastive fine-tuning (CCFT) of a static encoder. Only the rows of tokens in the offline queries change. */
import { setImmediate } from "node:timers/promises";
import { StaticEncoder } from "../encoder/static/static-encoder.ts";
import { quantize, type StaticTable, vectorOf } from "../encoder/static/static-table.ts";
import { InputError } from "../input/input-error.ts";
import { axpy, dot, norm } from "../linalg/linalg.ts";
import type { Pair, StepProgress } from "./pairs.ts";

export interface StaticTraining {
  readonly table: StaticTable;
  readonly texts: readonly string[];
  /** Batches of all epochs, one after another. */
  readonly batches: readonly (readonly Pair[])[];
  /** Learning rate, relative to the components of the table, whose root mean square is 1. */
  readonly learningRate: number;
  readonly onStep?: ((progress: StepProgress) => void) | undefined;
  /** Stops the training after the current step. */
  readonly signal?: AbortSignal | undefined;
}

export interface TrainedStatic {
  /** Trained rows are rounded to 8 bits. Their cosines to the unrounded rows stay above 0.9999. */
  readonly table: StaticTable;
  /** Loss of each batch before its step. */
  readonly losses: readonly number[];
}

/** Trains a table. Equal arguments give equal bits. 35 queries and 10 epochs take a fraction of a second. */
export async function fineTuneStatic({
  table,
  texts,
  batches,
  learningRate,
  onStep,
  signal,
}: StaticTraining): Promise<TrainedStatic> {
  const start = performance.now();
  const steps = batches.length;
  const rows = new TrainableRows(table, texts);
  const optimizer = new TableAdam(rows.values.length);
  const losses: number[] = [];
  for (const batch of batches) {
    const { loss, gradient } = rows.loss(batch);
    if (!Number.isFinite(loss)) throw diverged(losses.length);
    losses.push(loss);
    optimizer.update(rows.values, gradient, losses.length, learningRate);
    const step = losses.length;
    const pace = (performance.now() - start) / step;
    onStep?.({ step, steps, loss, millisecondsLeft: pace * (steps - step) });
    await setImmediate(); // lets the event loop handle signals such as Ctrl-C
    signal?.throwIfAborted();
  }
  return { table: rows.intoTable(table), losses };
}

/** The vectors of the tokens that occur, in float64, and the texts as sums of these rows. */
export class TrainableRows {
  /** One row per token that occurs. */
  readonly values: Float64Array;
  readonly #dimension: number;
  readonly #tokens: number[];
  /** Row indices of each text's tokens. */
  readonly #texts: readonly Int32Array[];

  constructor(table: StaticTable, texts: readonly string[]) {
    const encoder = new StaticEncoder(table);
    const rowOf = new Map<number, number>();
    this.#dimension = table.dimension;
    this.#texts = texts.map((text) =>
      encoder.distinctTokens(text).map((token) => {
        if (!rowOf.has(token)) rowOf.set(token, rowOf.size);
        return rowOf.get(token)!;
      }),
    );
    this.#tokens = [...rowOf.keys()];
    this.values = new Float64Array(this.#tokens.length * table.dimension);
    for (const [i, token] of this.#tokens.entries()) {
      this.values.set(vectorOf(table, token), i * table.dimension);
    }
  }

  /**
   * Returns L = mean over the pairs of (cos(u, v) - label)^2, and its gradient. With
   * x = the sum of a text's rows and u = x / |x|, the gradient of each of its rows is
   * dL/dx, and d cos / dx = (v - cos u) / |x|.
   */
  loss(batch: readonly Pair[]): { loss: number; gradient: Float64Array } {
    const units = new Map<number, { u: Float64Array; length: number; slope: Float64Array }>();
    const unitOf = (text: number) => {
      const known = units.get(text);
      if (known) return known;
      const x = this.#sum(text);
      const length = norm(x) || 1; // 1 for a text without tokens, whose vector is 0
      const made = {
        u: x.map((value) => value / length),
        length,
        slope: new Float64Array(x.length),
      };
      units.set(text, made);
      return made;
    };
    let loss = 0;
    for (const { a, b, label } of batch) {
      const [p, q] = [unitOf(a), unitOf(b)];
      const cosine = dot(p.u, q.u);
      loss += (cosine - label) ** 2 / batch.length;
      const slope = (2 * (cosine - label)) / batch.length;
      for (const [one, other] of [
        [p, q],
        [q, p],
      ] as const) {
        axpy(slope / one.length, other.u, one.slope);
        axpy((-slope * cosine) / one.length, one.u, one.slope);
      }
    }
    const gradient = new Float64Array(this.values.length);
    for (const [text, { slope }] of units) {
      for (const row of this.#texts[text]!) axpy(1, slope, this.#row(gradient, row));
    }
    return { loss, gradient };
  }

  /** Returns a copy of the table with the trained rows. */
  intoTable(table: StaticTable): StaticTable {
    const { rows, scales } = quantize(this.values, this.#dimension);
    const out = { ...table, rows: table.rows.slice(), scales: table.scales.slice() };
    for (const [i, token] of this.#tokens.entries()) {
      const row = rows.subarray(i * this.#dimension, (i + 1) * this.#dimension);
      out.rows.set(row, token * this.#dimension);
      out.scales[token] = scales[i]!;
    }
    return out;
  }

  #sum(text: number): Float64Array {
    const sum = new Float64Array(this.#dimension);
    for (const row of this.#texts[text]!) axpy(1, this.#row(this.values, row), sum);
    return sum;
  }

  #row(matrix: Float64Array, row: number): Float64Array {
    return matrix.subarray(row * this.#dimension, (row + 1) * this.#dimension);
  }
}

/**
 * Adam (Kingma and Ba 2015) with one second moment for the whole table. With one
 * second moment per weight, a word that occurs once would move as far as a word in
 * every query of a category, and the training would overfit. A common one adds 1 to
 * 2 points of accuracy (docs/encoders.md).
 */
class TableAdam {
  readonly #mean: Float64Array;
  #square = 0;

  constructor(size: number) {
    this.#mean = new Float64Array(size);
  }

  /** Changes the values in place. Steps count from 1. */
  update(values: Float64Array, gradient: Float64Array, step: number, learningRate: number): void {
    this.#square = BETA2 * this.#square + ((1 - BETA2) * dot(gradient, gradient)) / values.length;
    const size = Math.sqrt(this.#square / (1 - BETA2 ** step)) + EPSILON;
    const rate = learningRate / (1 - BETA1 ** step) / size;
    for (let i = 0; i < values.length; i++) {
      this.#mean[i] = BETA1 * this.#mean[i]! + (1 - BETA1) * gradient[i]!;
      values[i]! -= rate * this.#mean[i]!;
    }
  }
}

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

function diverged(step: number): InputError {
  return new InputError(
    { file: "--learning-rate" },
    `made the loss of step ${step + 1} infinite or NaN`,
    "give a smaller learning rate",
  );
}
