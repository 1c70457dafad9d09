import { dotAt } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import { BlockPosterior, NARROWEST_SPREAD, SHARED, TOLD, UNTOLD_SCALE } from "./block-posterior.ts";
import { COEFFICIENTS } from "./kind-beliefs.ts";
import { coefficientsOf, kindEstimates, votesOfKinds } from "./kind-report.ts";
import { type LaplaceFit, laplaceFit, solveLower, solveTransposed } from "./laplace-fit.ts";
import { pick } from "./pair-rule.ts";
import type { Estimate, Pool, PosteriorSample, Report } from "./policy.ts";
import { predictive } from "./posterior.ts";
import { sampledUtilities } from "./query-context.ts";
import type { ReportInput } from "./report-input.ts";
import type { VoteGroup } from "./vote-groups.ts";

/**
 * Reports on the models from fits to all votes, in which ties have full weight, one fit per
 * hypothesis, weighted by their evidence. If the confusion of the categories was measured, each
 * hypothesis also has a fit to the memberships that follow from it.
 */
export function fittedReport(input: ReportInput): Report {
  const { pool, groups, decided, position } = input;
  const [K, M] = [pool.models.length, pool.categories.length];
  const all = K + groups.former;
  const votes = {
    models: all,
    categories: M,
    groups: groups.all(),
    kinds: votesOfKinds(input.kinds, K),
    told: input.toldByCategory.map((scores) => withZeros(scores, all)),
    decided,
    position,
  };
  const softPriors = priorsOf(likelyPosteriors(input, HOPELESS));
  const soft = softPriors.map(({ prior, start }) => laplaceFit(prior, votes, start));
  const components = componentsOf();
  const only = (m: number) => Float64Array.from({ length: M }, (_, other) => Number(other === m));
  const { mix } = groups;
  return {
    mix,
    overall: () => estimateAt(input, components, mix),
    onCategory: (m) => estimateAt(input, components, only(m)),
    sampleStandings: (random) => {
      const { utilities } = sampleOf(input, pick(components, random.uniform()), random);
      return { overall: () => utilities(mix), onCategory: (m) => utilities(only(m)) };
    },
    samplePosterior: (random) => sampleOf(input, pick(components, random.uniform()), random),
    voterKinds: () =>
      kindEstimates(input.kinds, (c, i) => coefficientAt(components, placeOf(c, i))),
  };

  function componentsOf(): readonly Component[] {
    const { confusion } = pool;
    if (!confusion) return weighted(soft).components;
    const asMeasured = (group: VoteGroup) => ({ ...group, w: confusion[group.category]! });
    const measured = {
      ...votes,
      groups: votes.groups.map(asMeasured),
      kinds: votes.kinds.map((kind) => ({ ...kind, groups: kind.groups.map(asMeasured) })),
    };
    const priors = priorsOf(likelyPosteriors(input, HOPELESS_AS_MEASURED));
    const fits = priors.map(({ prior, start }) => laplaceFit(prior, measured, start));
    return mixed(weighted(soft), weighted(fits));
  }

  /** The priors of the fits under the hypotheses of these posteriors, and where the fits start. */
  function priorsOf(posteriors: readonly BlockPosterior[]) {
    return posteriors.flatMap((posterior) => {
      const { means, shared } = posterior;
      const ofKinds = coefficientsOf(posterior, all);
      const start = new Float64Array(all * M + shared.length + ofKinds.length);
      means.forEach((mean, k) => void start.set(mean, k * M));
      start.set(shared, all * M);
      start.set(ofKinds, all * M + shared.length);
      const prior = lessCorrelated(posterior, pool);
      const narrow = narrower(prior, pool);
      return [prior, ...(narrow ? [narrow] : [])].map((own) => {
        return { prior: withFormer(own, pool), start };
      });
    });
  }

  /** Place of a coefficient of a kind in the fits. */
  function placeOf(c: number, i: number): number {
    return all * M + SHARED + c * (COEFFICIENTS + all) + i;
  }
}

/** Mean and standard deviation of one coefficient, within and between the components. */
function coefficientAt(
  components: readonly Component[],
  place: number,
): { mean: number; sd: number } {
  const mean = components.reduce((sum, { fit, weight }) => sum + weight * fit.mode[place]!, 0);
  let variance = 0;
  for (const { fit, weight } of components) {
    if (weight <= NEGLIGIBLE) continue;
    const only = new Float64Array(fit.mode.length);
    only[place] = 1;
    const half = solveLower(fit.L, only);
    variance += weight * (dotAt(half, 0, half, 0, half.length) + (fit.mode[place]! - mean) ** 2);
  }
  return { mean, sd: Math.sqrt(variance) };
}

/** The posteriors that choose, without those whose logarithm of the evidence is `hopeless` below the largest. */
function likelyPosteriors({ posteriors }: ReportInput, hopeless: number): BlockPosterior[] {
  const top = Math.max(...posteriors.map(({ evidence }) => evidence));
  return posteriors.filter(({ evidence }) => evidence > top - hopeless);
}

const HOPELESS = 20;
/**
 * The posteriors that choose use the soft memberships. The measured ones may favour another
 * hypothesis, whose evidence under the soft ones was up to 36 below the largest after 50,000 votes
 * (docs/decisions/0070-hypotheses-of-reports.md).
 */
const HOPELESS_AS_MEASURED = 60;

/**
 * If told scores say nothing, the categories of a model may have less in common than choices assume
 * (docs/decisions/0033-audits-of-told-scores.md). The smaller correlation makes intervals wider where
 * a category has few votes.
 */
function lessCorrelated(posterior: BlockPosterior, pool: Pool): BlockPosterior {
  const { hypothesis } = posterior;
  if (hypothesis.told > 0) return posterior;
  const cautious = { ...hypothesis, correlation: REPORTED_CORRELATION };
  return BlockPosterior.prior(cautious, pool.models.length, pool.categories.length);
}

const REPORTED_CORRELATION = 0.3;

/**
 * Models without told scores may be closer together than the posteriors that choose assume. It
 * matters for intervals up to some thousand votes, not for choices.
 */
function narrower({ hypothesis }: BlockPosterior, pool: Pool): BlockPosterior | undefined {
  if (pool.told || hypothesis.cellSd > NARROWEST_SPREAD) return undefined;
  const logPrior = hypothesis.logPrior - Math.log(2);
  const narrow = { ...hypothesis, cellSd: NARROW_SD, logPrior };
  return BlockPosterior.prior(narrow, pool.models.length, pool.categories.length);
}

const NARROW_SD = 0.1;

function withZeros(values: Float64Array, length: number): Float64Array {
  if (values.length === length) return values;
  const out = new Float64Array(length);
  out.set(values);
  return out;
}

/**
 * The prior of the pool's models and of former ones. The told scores of a former model are not
 * known any more, so if the pool has told scores, its level may be anywhere.
 */
function withFormer(posterior: BlockPosterior, { models, told }: Pool) {
  const { hypothesis } = posterior;
  return {
    hypothesis,
    priorCovariance: (k: number) => {
      const covariance = posterior.priorCovariance(k);
      return told && k >= models.length
        ? covariance.map((value) => value + FORMER_VARIANCE)
        : covariance;
    },
  };
}

/** Variance of the level of a former model, in the unit of told scores, which lie between 0 and 1. */
const FORMER_VARIANCE = 0.25;

/** P(preferred) - P(other preferred) per unit of utility of the posteriors, at a vote scale. */
function marginOf({ decided }: ReportInput, scale: number): number {
  return (decided * scale) / 2;
}

/** Factor from the unit of the posteriors to that of the values. Told scores define the unit; without them the margin does. */
function unitOf(input: ReportInput): number {
  return input.pool.told ? 1 : marginOf(input, UNTOLD_SCALE);
}

interface Component {
  readonly fit: LaplaceFit;
  readonly weight: number;
}

/** Fits to the same votes, and the logarithm of the sum of their evidence. */
interface Weighted {
  readonly components: readonly Component[];
  readonly evidence: number;
}

/** The fits with their weights, which are proportional to their evidence. */
function weighted(fits: readonly LaplaceFit[]): Weighted {
  const top = Math.max(...fits.map(({ evidence }) => evidence));
  const weights = fits.map(({ evidence }) => Math.exp(evidence - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    components: fits.map((fit, i) => ({ fit, weight: weights[i]! / total })),
    evidence: top + Math.log(total),
  };
}

/**
 * Mixes fits to the soft memberships with fits to the measured ones. The soft memberships are too
 * flat where each query has one category, which makes differences between categories too large; the
 * measured ones are wrong where a query has something of several categories. Their evidence decides,
 * but the measured ones get at most MOST_MEASURED (docs/decisions/0055-measured-memberships.md and 0070).
 */
function mixed(soft: Weighted, measured: Weighted): Component[] {
  const odds = PRIOR_ODDS * Math.exp(measured.evidence - soft.evidence);
  const share = Math.min(MOST_MEASURED, 1 / (1 + 1 / odds));
  const part = ({ components }: Weighted, factor: number) =>
    components.map(({ fit, weight }) => ({ fit, weight: weight * factor }));
  return [...part(soft, 1 - share), ...part(measured, share)];
}

const PRIOR_ODDS = 1 / 3;
const MOST_MEASURED = 0.7;

/** Utilities of all models relative to their mean: the means, and the covariances (K x K). */
interface Moments {
  readonly weight: number;
  readonly scale: number;
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
}

/**
 * With phi_k the coefficients of the utility of model k minus those of the mean of the pool, and
 * L L^T the precision, the covariance of two utilities is (L^-1 phi_i) . (L^-1 phi_j).
 */
function momentsAt(input: ReportInput, { fit, weight }: Component, w: Float64Array): Moments {
  const [K, M] = [input.pool.models.length, w.length];
  const all = K + input.groups.former;
  const unit = unitOf(input);
  const { mode, L } = fit;
  const d = mode.length;
  const told = input.told(w);
  const mean = new Float64Array(K);
  const halves: Float64Array[] = [];
  for (let k = 0; k < K; k++) {
    const phi = new Float64Array(d);
    for (let j = 0; j < K; j++) {
      const factor = unit * (Number(j === k) - 1 / K);
      for (let m = 0; m < M; m++) phi[j * M + m] = factor * w[m]!;
    }
    // Told scores have mean 0.
    phi[all * M + TOLD] = unit * told[k]!;
    mean[k] = dotAt(phi, 0, mode, 0, d);
    halves.push(solveLower(L, phi));
  }
  const covariance = new Float64Array(K * K);
  for (let i = 0; i < K; i++) {
    for (let j = 0; j < K; j++) covariance[i * K + j] = dotAt(halves[i]!, 0, halves[j]!, 0, d);
  }
  return { weight, scale: fit.hypothesis.scale / unit, mean, covariance };
}

/** Means and standard deviations within and between the components. */
function estimateAt(
  input: ReportInput,
  components: readonly Component[],
  w: Float64Array,
): Estimate {
  const K = input.pool.models.length;
  const all = components
    .filter(({ weight }) => weight > NEGLIGIBLE)
    .map((component) => momentsAt(input, component, w));
  const mean = new Float64Array(K);
  for (const { weight, mean: own } of all) {
    for (let k = 0; k < K; k++) mean[k]! += weight * own[k]!;
  }
  const sd = new Float64Array(K);
  for (let k = 0; k < K; k++) {
    let variance = 0;
    for (const { weight, mean: own, covariance } of all) {
      variance += weight * (covariance[k * K + k]! + (own[k]! - mean[k]!) ** 2);
    }
    sd[k] = Math.sqrt(variance);
  }
  return {
    mean,
    sd,
    beats: (a, b) => {
      if (a === b) return 0.5;
      let p = 0;
      for (const { weight, scale, mean: own, covariance: C } of all) {
        const spread = C[a * K + a]! + C[b * K + b]! - 2 * C[a * K + b]!;
        p += weight * predictive(scale * (own[a]! - own[b]!), scale ** 2 * spread);
      }
      return p;
    },
  };
}

const NEGLIGIBLE = 1e-6;

/** Draws all coefficients of a component: mode + L^-T z has the covariance (L L^T)^-1. */
function sampleOf(input: ReportInput, { fit }: Component, random: Random): PosteriorSample {
  const [K, M] = [input.pool.models.length, input.pool.categories.length];
  const { mode, L, hypothesis } = fit;
  const drawn = solveTransposed(
    L,
    mode.map(() => random.normal()),
  );
  for (let i = 0; i < mode.length; i++) drawn[i]! += mode[i]!;
  const theta = Array.from({ length: K }, (_, k) => drawn.subarray(k * M, (k + 1) * M));
  const told = drawn[(K + input.groups.former) * M + TOLD]!;
  const { scale } = hypothesis;
  const unit = unitOf(input);
  return {
    scale: scale / unit,
    margin: marginOf(input, scale) / unit,
    utilities: sampledUtilities({ told, theta }, input.toldByCategory, unit),
  };
}
