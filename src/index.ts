/** The library, in the order in which a reader may want it. */

export {
  createFeatures,
  FEATURE_SETS,
  type FeatureOptions,
  type Features,
} from "./core/bandit/features.ts";
export { createPolicy } from "./core/bandit/options.ts";
export { POLICIES } from "./core/bandit/policies/index.ts";
export type {
  About,
  Choice,
  Duel,
  Feedback,
  Hindsight,
  OptionAbout,
  Options,
  Outcome,
  Policy,
  PolicyKind,
  Pool,
  Ranking,
  Rating,
  Round,
  Snapshot,
} from "./core/bandit/policy.ts";
export { alignModels, argmax, comparisonsOf } from "./core/bandit/policy.ts";
// What policies are made of.
export { GaussianPosterior } from "./core/bandit/posterior.ts";
export {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  WEIGHTINGS,
  type Weighting,
  type WeightingOptions,
} from "./core/bandit/weighting.ts";
// Calibrating: the offline path.
export { type Bundle, type BundleSettings, readBundle } from "./core/calibrate/bundle.ts";
export { openEncoderOrBundle } from "./core/calibrate/bundle-encoder.ts";
export { calibrate, type HeldOut, type OfflineQueries } from "./core/calibrate/calibrate.ts";
export { type FitOptions, type FitRequest, fitBundle } from "./core/calibrate/fit.ts";
export type { Encoder } from "./core/encoder/common/encoder.ts";
export { hashEncoder } from "./core/encoder/hash.ts";
export { type EncoderPlaces, type OpenEncoder, openEncoder } from "./core/encoder/open-encoder.ts";
export { Random } from "./core/random/random.ts";
// Deciding and learning.
export { type RoutedChoice, type RouteQuery, Router, type RouterSettings } from "./core/router.ts";
export type { Dataset, Query } from "./lab/data/dataset.ts";
// Measuring.
export { loadDataset } from "./lab/data/load.ts";
export type { Contender } from "./lab/policies/policy-spec.ts";
export { createEnvironment } from "./lab/simulate/environment.ts";
export { summarize } from "./lab/simulate/regret.ts";
export type { PolicyResult, Result } from "./lab/simulate/result.ts";
export { runPolicy } from "./lab/simulate/run.ts";
export { SETTINGS, type Settings } from "./lab/simulate/settings.ts";
export { pairedDifference } from "./lab/statistics.ts";
