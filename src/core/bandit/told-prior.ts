/**
 * Told scores as measurements:
 *
 *   told_km = level_m + u_km + error_km,  u_km = ability_k + effect_km,
 *
 * where error_km has the standard error that is told with the score, and abilities and
 * effects are Gaussian. The level of a category is the same for all models, so it does
 * not matter for choices. The standard deviations of abilities and effects come from
 * the table itself (empirical Bayes): every pair of a grid is weighted by its evidence.
 * Imprecise scores are thereby drawn towards the model's ability, and that towards the
 * mean of the pool. An unknown score (NaN) follows from the model's other scores.
 */
export interface ToldPrior {
  /** Expected utility of each model and category, relative to the category's level. */
  readonly means: Float64Array[];
  /** Covariance of the utilities of each model, M x M. */
  readonly covariances: Float64Array[];
}

export function toldPrior(
  told: readonly Float64Array[],
  standardErrors: readonly Float64Array[],
): ToldPrior {
  const M = told[0]!.length;
  const variances = told.map((row, k) =>
    row.map((score, m) => variance(score, standardErrors[k]![m]!)),
  );
  const scores = centred(told, variances);
  const fits = SDS.flatMap((ability) =>
    SDS.map((effect) => scores.map((row, k) => conditional(row, variances[k]!, ability, effect))),
  );
  const evidences = fits.map((rows) => rows.reduce((sum, { evidence }) => sum + evidence, 0));
  const top = Math.max(...evidences);
  const weights = evidences.map((evidence) => Math.exp(evidence - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const means = told.map(() => new Float64Array(M));
  const covariances = told.map(() => new Float64Array(M * M));
  const each = (visit: (k: number, weight: number, fit: Conditional) => void) => {
    fits.forEach((rows, h) => {
      const weight = weights[h]! / total;
      if (weight > NEGLIGIBLE)
        rows.forEach((fit, k) => {
          visit(k, weight, fit);
        });
    });
  };
  each((k, weight, { mean }) => {
    for (let m = 0; m < M; m++) means[k]![m]! += weight * mean[m]!;
  });
  each((k, weight, { mean, own, shared, abilityVariance }) => {
    const [middle, covariance] = [means[k]!, covariances[k]!];
    for (let i = 0; i < M; i++) {
      const gap = mean[i]! - middle[i]!;
      for (let j = 0; j < M; j++) {
        const within = abilityVariance * shared[i]! * shared[j]! + (i === j ? own[i]! : 0);
        covariance[i * M + j]! += weight * (within + gap * (mean[j]! - middle[j]!));
      }
    }
  });
  return { means, covariances };
}

/** Standard deviations of abilities and of effects that are considered. */
const SDS = [0.01, 0.03, 0.06, 0.1, 0.17, 0.3];
/** Standard error of a score that has none, in a table that has some. */
const UNSTATED_ERROR = 0.1;
const NEGLIGIBLE = 1e-6;
/** Smallest variance of an error. It keeps the evidence finite. */
const MIN_VARIANCE = 1e-8;

function variance(score: number, standardError: number): number {
  if (Number.isNaN(score)) return Infinity;
  if (Number.isNaN(standardError)) return UNSTATED_ERROR ** 2;
  return Math.max(MIN_VARIANCE, standardError ** 2);
}

/** Subtracts the mean of each category, weighted by precision. Unknown scores become 0. */
function centred(
  told: readonly Float64Array[],
  variances: readonly Float64Array[],
): Float64Array[] {
  const M = told[0]!.length;
  const middle = Float64Array.from({ length: M }, (_, m) => {
    let sum = 0;
    let weights = 0;
    told.forEach((row, k) => {
      if (Number.isNaN(row[m]!)) return;
      const weight = 1 / (variances[k]![m]! + TYPICAL_VARIANCE);
      sum += weight * row[m]!;
      weights += weight;
    });
    return weights > 0 ? sum / weights : 0;
  });
  return told.map((row) => row.map((score, m) => (Number.isNaN(score) ? 0 : score - middle[m]!)));
}

/** Variance of utilities within a category, for the weights of the level only. */
const TYPICAL_VARIANCE = 0.01;

/**
 * The utilities of one model given its scores: u_m = mean_m + shared_m z + own noise,
 * where z is the error of the ability with the variance `abilityVariance`.
 */
interface Conditional {
  readonly mean: Float64Array;
  readonly shared: Float64Array;
  readonly own: Float64Array;
  readonly abilityVariance: number;
  readonly evidence: number;
}

/**
 * Conditions one model on its scores y_m. With d_m = effect^2 + variance_m, the ability
 * has the precision P = 1 / ability^2 + sum 1 / d_m and the mean a = sum (y_m / d_m) / P.
 * Given the ability, the effect has the mean g_m (y_m - a), g_m = effect^2 / d_m, and
 * the variance effect^2 (1 - g_m). An infinite variance gives g_m = 0.
 */
function conditional(
  scores: Float64Array,
  variances: Float64Array,
  ability: number,
  effect: number,
): Conditional {
  let precision = 1 / ability ** 2;
  let sum = 0;
  let evidence = 0;
  for (let m = 0; m < scores.length; m++) {
    if (variances[m] === Infinity) continue;
    const d = effect ** 2 + variances[m]!;
    precision += 1 / d;
    sum += scores[m]! / d;
    evidence -= (Math.log(d) + scores[m]! ** 2 / d) / 2;
  }
  evidence += (sum ** 2 / precision - Math.log(precision * ability ** 2)) / 2;
  const gains = variances.map((variance) => effect ** 2 / (effect ** 2 + variance));
  return {
    mean: scores.map((score, m) => gains[m]! * score + ((1 - gains[m]!) * sum) / precision),
    shared: gains.map((gain) => 1 - gain),
    own: gains.map((gain) => effect ** 2 * (1 - gain)),
    abilityVariance: 1 / precision,
    evidence,
  };
}
