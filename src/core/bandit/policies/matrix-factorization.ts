import { axpy, dot, dotAt, norm, normalized } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import { sigmoid } from "../btl.ts";
import { Ridge } from "../linucb.ts";
import { MEMORY_ABOUT, Memory, type MemoryState, voteAt } from "../memory.ts";
import { type About, alignModels, type PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = {
  ...RANKING_DEFAULTS,
  hidden: 64,
  learningRate: 0.1,
  replay: 8,
  sd: 0.3,
  memory: 20_000,
  seed: 1,
};

const ABOUT: About<typeof DEFAULTS> = {
  ...RANKING_ABOUT,
  hidden: { meaning: "length of a model embedding; 128 in the paper", integer: true, min: 1 },
  learningRate: { meaning: "length of the gradient steps", above: 0 },
  replay: {
    meaning: "past votes that are trained on again with every new one",
    integer: true,
    min: 0,
  },
  sd: { meaning: "prior standard deviation of a coefficient of w", above: 0 },
  memory: MEMORY_ABOUT.memory,
  seed: { meaning: "seed of the initial embeddings", integer: true },
};

/**
 * The matrix factorisation of RouteLLM (Ong et al. 2024, section 4.2):
 *
 *   delta(M, q) = w . (normalize(P_M) o W q),   P(a beats b) = sigmoid(delta_a - delta_b),
 *
 * with P_M the embedding of model M and q the embedding of the query. Deviations: it is trained
 * online by gradient steps on each vote and a few past votes, where the paper runs Adam over
 * stored votes with noise on q; w has a Gaussian prior and starts at 0, so that at first only
 * the told scores count.
 *
 * For the choice of the opponent, the last layer is treated as a linear model of the
 * features (normalize(P_a) - normalize(P_b)) o W q, as in neural dueling bandits (Verma
 * et al. 2024): the information about w gives the width of every duel.
 */
export const matrixFactorization: PolicyKind<typeof DEFAULTS> = {
  name: "matrix-factorization",
  summary: "matrix factorisation: learned model embeddings times the projected query",
  source: "RouteLLM (Ong et al. 2024)",
  defaults: DEFAULTS,
  about: ABOUT,
  create(pool, options) {
    const d = pool.centroids[0]!.length;
    const factors = initialFactors(pool.models, d, options);
    const { P, W, w } = factors;
    const information = new Ridge(w.length, options.sd ** -2); // only its widths are used
    const memory = new Memory(d, options.memory);
    return rankingPolicy(pool, options, {
      rate(x) {
        const q = normalized(x);
        const wz = hadamard(w, project(W, q));
        return {
          mean: Float64Array.from(P, (p) => dot(wz, normalized(p))),
          width: (i, j) => information.width(duelFeatures(factors, q, i, j)),
        };
      },
      learn(x, comparison, offset, random) {
        const q = normalized(x);
        const { a, b, weight } = comparison;
        const features = duelFeatures(factors, q, a, b);
        const p = sigmoid(offset + dot(w, features));
        information.update(features, 0, weight * p * (1 - p));
        memory.add(x, comparison, offset);
        for (let n = 0; n <= options.replay; n++) {
          const i = n === 0 ? memory.size - 1 : random.integer(memory.size);
          const past = { q: memory.x.subarray(i * d, (i + 1) * d), ...voteAt(memory, i) };
          // A vote of weight 1e6 must not destroy the factors: no step is longer than the step of
          // a vote of weight 1.
          gradientStep(factors, past, options.learningRate * Math.min(1, past.weight));
          // Each of n votes carries 1/n of the prior of w.
          const shrink = Math.min(1, options.learningRate / (options.sd ** 2 * memory.size));
          axpy(-shrink, w.slice(), w);
        }
      },
      snapshot: () =>
        structuredClone({ ...factors, inverse: information.inverse, memory: memory.snapshot() }),
      restore(state, from) {
        const before = state as Factors & { inverse: Float64Array; memory: MemoryState };
        const fresh = initialFactors(pool.models, d, options);
        alignModels(from, pool.models).forEach((k, i) => {
          P[i]!.set(before.P[k] ?? fresh.P[i]!);
        });
        W.set(before.W);
        w.set(before.w);
        information.inverse.set(before.inverse);
        memory.restore(before.memory, from, pool.models);
      },
    });
  },
};

export interface Factors {
  /** One embedding per model. */
  readonly P: readonly Float64Array[];
  /** hidden x d */
  readonly W: Float64Array;
  readonly w: Float64Array;
}

/**
 * Returns random directions for the models and for W. The direction of a model depends on
 * its name, not on the order of the pool.
 */
function initialFactors(
  models: readonly string[],
  d: number,
  { hidden, seed }: { hidden: number; seed: number },
): Factors {
  const random = Random.seeded(seed);
  const normals = (n: number, stream: Random) =>
    Float64Array.from({ length: n }, () => stream.normal());
  return {
    P: models.map((name) => normalized(normals(hidden, random.split("P").split(name)))),
    W: normals(hidden * d, random.split("W")),
    w: new Float64Array(hidden),
  };
}

/** Returns (normalize(P_a) - normalize(P_b)) o W q; its product with w is the logit of a win of a over b. */
export function duelFeatures(
  { P, W }: Factors,
  q: Float64Array,
  a: number,
  b: number,
): Float64Array {
  const difference = normalized(P[a]!);
  axpy(-1, normalized(P[b]!), difference);
  return hadamard(difference, project(W, q));
}

/**
 * Makes one gradient step up the log-likelihood of a vote. With g = win - sigmoid(logit),
 * z = W q and p = normalize(P):
 *
 *   w   += rate g (p_a - p_b) o z
 *   W   += rate g (w o (p_a - p_b)) q^T
 *   P_a += rate g (I - p_a p_a^T) (w o z) / |P_a|,   and the opposite for P_b.
 */
export function gradientStep(
  factors: Factors,
  vote: { q: Float64Array; a: number; b: number; win: number; offset: number },
  rate: number,
): void {
  const { P, W, w } = factors;
  const { q, a, b } = vote;
  const z = project(W, q);
  const pa = normalized(P[a]!);
  const pb = normalized(P[b]!);
  const difference = pa.map((value, i) => value - pb[i]!);
  const features = hadamard(difference, z);
  const g = rate * (vote.win - sigmoid(vote.offset + dot(w, features)));
  const wz = hadamard(w, z);
  for (let i = 0; i < w.length; i++) {
    axpy(g * w[i]! * difference[i]!, q, W.subarray(i * q.length, (i + 1) * q.length));
  }
  moveOnSphere(P[a]!, pa, wz, g);
  moveOnSphere(P[b]!, pb, wz, -g);
  axpy(g, features, w);
}

function moveOnSphere(P: Float64Array, p: Float64Array, gradient: Float64Array, rate: number) {
  const step = rate / norm(P);
  const radial = dot(p, gradient);
  for (let i = 0; i < P.length; i++) P[i]! += step * (gradient[i]! - radial * p[i]!);
}

function project(W: Float64Array, q: Float64Array): Float64Array {
  const d = q.length;
  return Float64Array.from({ length: W.length / d }, (_, i) => dotAt(W, i * d, q, 0, d));
}

function hadamard(u: Float64Array, v: Float64Array): Float64Array {
  return u.map((value, i) => value * v[i]!);
}
