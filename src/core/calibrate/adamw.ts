/**
 * Adam with decoupled weight decay (Loshchilov and Hutter 2019) as in PyTorch, with
 * gradients clipped to a global norm. The loop over MiniLM's 11 million weights
 * takes 75 ms in plain JavaScript, a tenth of a training step. As an ONNX graph it
 * would be a dozen passes over memory of 10 ms each.
 */
import { type Tensor, zerosLike } from "../encoder/transformer/model/safetensors.ts";

type Tensors = ReadonlyMap<string, Tensor>;

export const ADAMW = {
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0.01,
  /** Largest global norm of the gradients. */
  clip: 1,
} as const;

/** Whether weight decay applies. It does not apply to LayerNorm and biases, MPNet's relative bias included. */
export function decays(name: string): boolean {
  return !/bias|LayerNorm/.test(name);
}

export class AdamW {
  /** Moving averages of the gradients and of their squares. */
  readonly means: Tensors;
  readonly squares: Tensors;
  readonly #weights: Tensors;

  constructor(weights: Tensors) {
    this.#weights = weights;
    this.means = zerosLike(weights);
    this.squares = zerosLike(weights);
  }

  /** Changes the weights in place. `norm` is the global norm of the gradients, and steps count from 1. */
  update(gradients: Tensors, norm: number, step: number, learningRate: number): void {
    const { beta1, beta2, weightDecay, clip } = ADAMW;
    const scale = Math.min(1, clip / (norm + 1e-6));
    const rate = learningRate / (1 - beta1 ** step);
    const correction = 1 / Math.sqrt(1 - beta2 ** step);
    for (const [name, weight] of this.#weights) {
      const [g, m, v] = [gradients, this.means, this.squares].map((all) => all.get(name)!.data);
      const keep = decays(name) ? 1 - learningRate * weightDecay : 1;
      updateOne(weight.data, g!, m!, v!, { scale, rate, correction, keep });
    }
  }
}

/** Returns the norm of all gradients taken as one vector. */
export function globalNorm(gradients: Tensors): number {
  let sum = 0;
  for (const { data } of gradients.values()) sum += sumOfSquares(data);
  return Math.sqrt(sum);
}

interface Coefficients {
  readonly scale: number;
  readonly rate: number;
  readonly correction: number;
  readonly keep: number;
}

/**
 * m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2,
 * w <- keep w - rate m / (sqrt(v) correction + epsilon)
 */
function updateOne(
  w: Float32Array,
  gradient: Float32Array,
  m: Float32Array,
  v: Float32Array,
  { scale, rate, correction, keep }: Coefficients,
): void {
  const { beta1, beta2, epsilon } = ADAMW;
  for (let i = 0; i < w.length; i++) {
    const g = gradient[i]! * scale;
    const mean = beta1 * m[i]! + (1 - beta1) * g;
    const square = beta2 * v[i]! + (1 - beta2) * g * g;
    m[i] = mean;
    v[i] = square;
    w[i] = keep * w[i]! - (rate * mean) / (Math.sqrt(square) * correction + epsilon);
  }
}

function sumOfSquares(a: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  let i = 0;
  for (; i + 3 < a.length; i += 4) {
    s0 += a[i]! * a[i]!;
    s1 += a[i + 1]! * a[i + 1]!;
    s2 += a[i + 2]! * a[i + 2]!;
    s3 += a[i + 3]! * a[i + 3]!;
  }
  for (; i < a.length; i++) s0 += a[i]! * a[i]!;
  return s0 + s1 + s2 + s3;
}
