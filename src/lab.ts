/** The export "joust/lab": policies measured on a data set with simulated voters. */

export type { Contender } from "./core/policy-spec/policy-spec.ts";
export { pairedDifference } from "./core/statistics.ts";
export type { Dataset, Query } from "./lab/data/dataset.ts";
export { loadDataset } from "./lab/data/load.ts";
export { createEnvironment } from "./lab/simulate/environment.ts";
export { summarize } from "./lab/simulate/regret.ts";
export type { PolicyResult, Result } from "./lab/simulate/result.ts";
export { runPolicy } from "./lab/simulate/run.ts";
export { SETTINGS, type Settings } from "./lab/simulate/settings.ts";
