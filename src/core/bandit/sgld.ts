import type { Random } from "../random/random.ts";
import { sigmoid, softplus } from "./btl.ts";
import type { Rounds } from "./rounds.ts";

/**
 * The target of stochastic gradient Langevin dynamics (Welling and Teh 2011), by which
 * FGTS.CDB samples from its posterior (Algorithm 1, step 5).
 *
 * With v_i = phi(x_i, a_i^1) - phi(x_i, a_i^2), chain j has the potential
 *
 *   U_j(theta) = |theta - theta_0|^2 / (2 sd_0^2) + sum_i L^j_i(theta)
 *   L^j_i = eta sigma(y_i <theta, v_i>) - mu min(b, max_a <theta, phi(x_i, a) - phi(x_i, a_i^(3-j))>)
 *
 * which is eq. 2 except for the cap b. The feel-good term grows with |theta| and is
 * summed over all rounds, so without a cap it drags the chain far away.
 * sigma(z) = log(1 + e^-z) is a loss, not the sigmoid; a chain that descends the
 * sigmoid moves away from the preferred answer.
 *
 * Our other additions: the weight of a vote multiplies its eta, and a tie is half a
 * win and half a loss. The loss of win in [0, 1] is
 * win sigma(z) + (1 - win) sigma(-z), with derivative sigmoid(z) - win in z.
 */
export interface Target {
  /** theta_0 and sd_0, one number per coefficient. */
  readonly mean: Float64Array;
  readonly sd: Float64Array;
  /** Weight of a vote. */
  readonly eta: number;
  /** Weight of the feel-good term. */
  readonly mu: number;
  /** b */
  readonly cap: number;
}

/** Chain j plays a^j, and its feel-good term compares with a^(3-j). */
export type ChainIndex = 1 | 2;

/** Returns U_j(theta) over all rounds. */
export function potential(
  target: Target,
  rounds: Rounds,
  j: ChainIndex,
  theta: Float64Array,
): number {
  const K = rounds.models;
  const all = Int32Array.from({ length: rounds.length }, (_, i) => i);
  const scores = new Float64Array(all.length * K);
  rounds.phi.scores(theta, all, scores);
  let U = 0;
  for (let i = 0; i < theta.length; i++)
    U += ((theta[i]! - target.mean[i]!) / target.sd[i]!) ** 2 / 2;
  for (let i = 0; i < all.length; i++) {
    const { a, b, win, weight } = rounds.vote(i);
    const score = scores.subarray(i * K, (i + 1) * K);
    const z = score[a]! - score[b]!;
    const other = j === 1 ? b : a;
    U += target.eta * weight * (win * softplus(-z) + (1 - win) * softplus(z));
    U -= target.mu * Math.min(target.cap, Math.max(...score) - score[other]!);
  }
  return U;
}

/**
 * Estimates the gradient of U_j from a batch of rounds: the part of the prior plus
 * t / B times the part of the batch. Its mean over all batches of one size is the
 * gradient.
 *
 *   grad U_j = (theta - theta_0) / sd_0^2
 *     + sum_i [ eta (sigmoid(z_i) - win_i) v_i - mu (phi(x_i, a^) - phi(x_i, a_i^(3-j))) ]
 *
 * a^ is the argmax, and the mu part is 0 above the cap. Models that tie for a^ need no
 * random choice here: either their features are equal, or theta is at a kink, which
 * has probability 0.
 */
export function gradient(
  target: Target,
  rounds: Rounds,
  j: ChainIndex,
  theta: Float64Array,
  batch: Int32Array,
  buffers = new GradientBuffers(batch.length, rounds),
): Float64Array {
  const { scores, byScore, out } = buffers;
  const { eta, mu, cap } = target;
  const K = rounds.models;
  const share = rounds.length / batch.length;
  rounds.phi.scores(theta, batch, scores);
  byScore.fill(0, 0, batch.length * K);
  for (let row = 0; row < batch.length; row++) {
    const { a, b, win, weight } = rounds.vote(batch[row]!);
    const at = row * K;
    const z = scores[at + a]! - scores[at + b]!;
    const pull = share * eta * weight * (sigmoid(z) - win);
    byScore[at + a]! += pull;
    byScore[at + b]! -= pull;
    if (mu === 0) continue;
    const other = at + (j === 1 ? b : a);
    let best = at;
    for (let k = at + 1; k < at + K; k++) if (scores[k]! > scores[best]!) best = k;
    if (scores[best]! - scores[other]! >= cap) continue;
    byScore[best]! -= share * mu;
    byScore[other]! += share * mu;
  }
  for (let i = 0; i < out.length; i++) out[i] = (theta[i]! - target.mean[i]!) / target.sd[i]! ** 2;
  rounds.phi.addTransposed(byScore, batch, out);
  return out;
}

/** Buffers that successive gradients reuse: at d = 12, allocating them takes longer than filling them. */
class GradientBuffers {
  readonly scores: Float64Array;
  /** dU / d scores */
  readonly byScore: Float64Array;
  readonly out: Float64Array;

  constructor(batch: number, { models, dimension }: Rounds) {
    this.scores = new Float64Array(batch * models);
    this.byScore = new Float64Array(batch * models);
    this.out = new Float64Array(dimension);
  }
}

/**
 * Draws B of the rounds 0 .. t-1 uniformly without replacement, or all if t <= B. It
 * is a Fisher-Yates shuffle that stops after B swaps and undoes them, so a draw takes
 * O(B), however many rounds there are.
 */
export class Minibatch {
  readonly #batch: Int32Array;
  readonly #swapped: Int32Array;
  /** 0, 1, 2, ... between draws. */
  #order = new Int32Array(0);

  constructor(B: number) {
    this.#batch = new Int32Array(B);
    this.#swapped = new Int32Array(B);
  }

  /** The result is valid until the next draw. */
  draw(t: number, random: Random): Int32Array {
    const B = this.#batch.length;
    if (this.#order.length < t) this.#order = Int32Array.from({ length: 2 * t }, (_, i) => i);
    const order = this.#order;
    if (t <= B) return order.subarray(0, t);
    for (let i = 0; i < B; i++) {
      const j = i + random.integer(t - i);
      this.#swapped[i] = j;
      this.#batch[i] = order[j]!;
      order[j] = order[i]!;
    }
    // Entries before i are never drawn again, so only the entries j were written.
    for (let i = 0; i < B; i++) order[this.#swapped[i]!] = this.#swapped[i]!;
    return this.#batch;
  }
}

/**
 * Returns eps in units of the prior variance: step / (1 + eta/4 sum_i weight_i |sd_0 o v_i|^2).
 * The denominator bounds the curvature of U in every direction (sigmoid' <= 1/4, and a
 * trace is at least the largest eigenvalue), so the chain cannot diverge for step < 2.
 * With one sd_0 for all coefficients and weights of 1, eps sd_0^2 is
 * step / (sd_0^-2 + eta/4 t mean|v|^2).
 */
export function stepSize(target: Target, rounds: Rounds, step: number): number {
  return step / (1 + 0.25 * target.eta * rounds.information);
}

/**
 * theta <- theta - eps sd_0^2 grad + sqrt(2 eps) sd_0 xi, xi standard normal. Each
 * coefficient moves in units of its own sd_0, which does not change the distribution
 * that is sampled.
 */
export function langevinStep(
  theta: Float64Array,
  grad: Float64Array,
  eps: number,
  sd: Float64Array,
  random: Random,
): void {
  const noise = Math.sqrt(2 * eps);
  for (let i = 0; i < theta.length; i++) {
    theta[i]! += sd[i]! * (noise * random.normal() - eps * sd[i]! * grad[i]!);
  }
}

export interface ChainOptions {
  /** Langevin steps per round. */
  readonly steps: number;
  /** B, the past rounds per gradient. */
  readonly batch: number;
  /** Length of a step, see `stepSize`. */
  readonly step: number;
}

/** A Langevin chain. It continues where the last round left theta^j (a warm start). */
export class Chain {
  readonly j: ChainIndex;
  readonly theta: Float64Array;
  readonly #target: Target;
  readonly #options: ChainOptions;
  readonly #minibatch: Minibatch;
  #buffers: GradientBuffers | undefined;

  constructor(target: Target, j: ChainIndex, options: ChainOptions) {
    this.j = j;
    this.theta = target.mean.slice();
    this.#target = target;
    this.#options = options;
    this.#minibatch = new Minibatch(options.batch);
  }

  advance(rounds: Rounds, random: Random): void {
    const { steps, batch, step } = this.#options;
    const eps = stepSize(this.#target, rounds, step);
    this.#buffers ??= new GradientBuffers(batch, rounds);
    for (let n = 0; n < steps; n++) {
      const drawn = this.#minibatch.draw(rounds.length, random);
      const grad = gradient(this.#target, rounds, this.j, this.theta, drawn, this.#buffers);
      langevinStep(this.theta, grad, eps, this.#target.sd, random);
    }
  }
}
