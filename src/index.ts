/** The library, in the order in which a reader may want it. */

export {
  createFeatures,
  FEATURE_SETS,
  type FeatureOptions,
  type Features,
} from "./bandit/features.ts";
export { createPolicy } from "./bandit/options.ts";
export { POLICIES } from "./bandit/policies/index.ts";
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
} from "./bandit/policy.ts";
export { alignModels, argmax, comparisonsOf } from "./bandit/policy.ts";
// What policies are made of.
export { GaussianPosterior } from "./bandit/posterior.ts";
export {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  WEIGHTINGS,
  type Weighting,
  type WeightingOptions,
} from "./bandit/weighting.ts";
// Calibrating: the offline path.
export { type Bundle, type BundleSettings, readBundle } from "./calibrate/bundle.ts";
export { openEncoderOrBundle } from "./calibrate/bundle-encoder.ts";
export { calibrate, type HeldOut, type OfflineQueries } from "./calibrate/calibrate.ts";
export { type FitOptions, type FitRequest, fitBundle } from "./calibrate/fit.ts";
export type { Encoder } from "./encoder/encoder.ts";
export { hashEncoder } from "./encoder/hash.ts";
export { type EncoderPlaces, type OpenEncoder, openEncoder } from "./encoder/open-encoder.ts";
export { Random } from "./random/random.ts";
// Deciding and learning.
export { type Decision, type RouteQuery, Router, type RouterSettings } from "./router.ts";
export type { Dataset, Query } from "./simulate/dataset.ts";
export { createEnvironment } from "./simulate/environment.ts";
// Measuring.
export { loadDataset } from "./simulate/load/load.ts";
export { summarize } from "./simulate/regret.ts";
export type { PolicyResult, Result } from "./simulate/result.ts";
export { type Contender, runPolicy } from "./simulate/run.ts";
export { SETTINGS, type Settings } from "./simulate/settings.ts";
export { pairedDifference } from "./simulate/statistics.ts";
