/**
 * The export "joust": routing with duels as a library, without a gateway. A program
 * embeds a query, lets a `Router` choose models, shows their answers, and passes the
 * vote back; examples/library.ts does so in a few lines.
 */

// Routing: a `Router` chooses models for a query with a policy, and teaches it by votes.

export {
  type RoutedChoice,
  type RouteQuery,
  Router,
  type RouterSettings,
  type RouterSnapshot,
  type VoteTarget,
} from "./core/router.ts";

// Policies: `joust` is the default, `POLICIES` has all of them.

export { createPolicy } from "./core/bandit/options.ts";
export { POLICIES } from "./core/bandit/policies/index.ts";
export { joust } from "./core/bandit/policies/joust.ts";
export { reportOf } from "./core/bandit/policies/joust-report.ts";

// The interface of a policy, and functions for writing one.

export {
  createFeatures,
  FEATURE_SETS,
  type FeatureOptions,
  type Features,
} from "./core/bandit/features.ts";
export {
  type About,
  alignModels,
  argmax,
  type Choice,
  type Comparison,
  comparisonsOf,
  type Duel,
  type Estimate,
  type Feedback,
  type Hindsight,
  type OptionAbout,
  type Options,
  type Outcome,
  type PendingDuel,
  type Policy,
  type PolicyKind,
  type Pool,
  type PosteriorSample,
  type Ranking,
  type Rating,
  type Report,
  type Round,
  type Snapshot,
} from "./core/bandit/policy.ts";
export { GaussianPosterior } from "./core/bandit/posterior.ts";

// Encoders: text to embedding.

export type { Encoder } from "./core/encoder/common/encoder.ts";
export { encoderPlaces } from "./core/encoder/encoder-places.ts";
export { hashEncoder } from "./core/encoder/hash.ts";
export { type EncoderPlaces, type OpenEncoder, openEncoder } from "./core/encoder/open-encoder.ts";

// Calibration: fit an encoder and model embeddings to labelled queries, and read the result.

export {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  WEIGHTINGS,
  type Weighting,
  type WeightingOptions,
} from "./core/bandit/weighting.ts";
export {
  type Bundle,
  type BundleSettings,
  poolOfBundle,
  readBundle,
} from "./core/calibrate/bundle.ts";
export { openEncoderOrBundle } from "./core/calibrate/bundle-encoder.ts";
export { calibrate, type HeldOut, type OfflineQueries } from "./core/calibrate/calibrate.ts";
export { type FitOptions, type FitRequest, fitBundle } from "./core/calibrate/fit.ts";

// Random numbers: every draw comes from a generator that the caller seeds.

export { Random } from "./core/random/random.ts";

// Errors: the message says what happened and where, `hint` says what to do.

export { JoustError } from "./core/errors/joust-error.ts";
export { InputError } from "./core/input/input-error.ts";
