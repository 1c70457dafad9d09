/** The export "joust": the method as a library. */

export {
  createFeatures,
  FEATURE_SETS,
  type FeatureOptions,
  type Features,
} from "./core/bandit/features.ts";

// Policies, and what a policy of your own is made of.
export { createPolicy } from "./core/bandit/options.ts";
export { POLICIES } from "./core/bandit/policies/index.ts";
export {
  type About,
  alignModels,
  argmax,
  type Choice,
  comparisonsOf,
  type Duel,
  type Feedback,
  type Hindsight,
  type OptionAbout,
  type Options,
  type Outcome,
  type Policy,
  type PolicyKind,
  type Pool,
  type Ranking,
  type Rating,
  type Round,
  type Snapshot,
} from "./core/bandit/policy.ts";
export { GaussianPosterior } from "./core/bandit/posterior.ts";
export {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  WEIGHTINGS,
  type Weighting,
  type WeightingOptions,
} from "./core/bandit/weighting.ts";
// Offline: fit an encoder to labelled queries and embed the models.
export { type Bundle, type BundleSettings, readBundle } from "./core/calibrate/bundle.ts";
export { openEncoderOrBundle } from "./core/calibrate/bundle-encoder.ts";
export { calibrate, type HeldOut, type OfflineQueries } from "./core/calibrate/calibrate.ts";
export { type FitOptions, type FitRequest, fitBundle } from "./core/calibrate/fit.ts";
// Encoders: text to vector.
export type { Encoder } from "./core/encoder/common/encoder.ts";
export { encoderPlaces } from "./core/encoder/encoder-places.ts";
export { hashEncoder } from "./core/encoder/hash.ts";
export { type EncoderPlaces, type OpenEncoder, openEncoder } from "./core/encoder/open-encoder.ts";
export { JoustError } from "./core/errors/joust-error.ts";
export { Random } from "./core/random/random.ts";
// Online: choose models for a query and learn from votes.
export { type RoutedChoice, type RouteQuery, Router, type RouterSettings } from "./core/router.ts";
