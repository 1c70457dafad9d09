import { createFeatures, FEATURE_DEFAULTS } from "../../../core/bandit/features.ts";
import type { PolicyKind } from "../../../core/bandit/policy.ts";
import { dotAt, normalized } from "../../../core/linalg/linalg.ts";
import { Random } from "../../../core/random/random.ts";
import type { Calibration, Dataset } from "../../data/dataset.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { SETTINGS } from "../../simulate/settings.ts";
import { measure } from "./measure.ts";
import type { LinearSpec } from "./specs.ts";

/**
 * A run in a world in which the assumption of the theory holds: r(x, a_k) =
 * <theta, phi(x, a_k)> with phi = normalize(x o a_k), x and a_k on the unit sphere,
 * theta of length 1.
 */
export async function linear(
  spec: LinearSpec,
  kind: PolicyKind,
  context: Context,
): Promise<Result> {
  const { models: K, dimension, rounds, voteScale, seed, run, policy } = spec;
  const random = Random.seeded(seed).split("linear").split(run);
  const onSphere = (random: Random) =>
    normalized(Float64Array.from({ length: dimension }, () => random.normal()));
  const names = Array.from({ length: K }, (_, k) => `model ${k + 1}`);
  const a = names.map((_, k) => onSphere(random.split("a").split(k)));
  const calibration: Calibration = {
    categories: ["all"],
    centroids: [new Float64Array(dimension)],
    sizes: [0],
    scores: names.map(() => new Float64Array(1)),
    embeddings: a,
    offline: [[]],
  };
  const pool = { ...calibration, models: names, told: calibration.scores, fitted: a };
  const { rows } = createFeatures(pool, { ...FEATURE_DEFAULTS, weighting: "fitted" });
  const theta = onSphere(random.split("theta"));
  const embeddings = Array.from({ length: rounds }, (_, i) => onSphere(random.split("x").split(i)));
  const queries = embeddings.map((x, i) => {
    const phi = rows(x);
    const utility = (k: number) => dotAt(phi, k * dimension, theta, 0, dimension);
    const scores = Float64Array.from(names, (_, k) => utility(k));
    return { id: String(i), text: "", category: -1, scores };
  });
  const dataset: Dataset = { models: names, categories: [], queries, calibration };
  const settings = { ...SETTINGS, rounds, voteScale, seed, told: { kind: "bundle" } as const };
  const { options } = policy;
  const measured = { dataset, embeddings, kind, options, settings, price: 0 };
  return { value: measure(measured, random, context) };
}
