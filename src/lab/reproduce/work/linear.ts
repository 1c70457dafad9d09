import { createFeatures, FEATURE_DEFAULTS } from "../../../core/bandit/features.ts";
import type { PolicyKind } from "../../../core/bandit/policy.ts";
import { dotAt, normalized } from "../../../core/linalg/linalg.ts";
import { Random } from "../../../core/random/random.ts";
import type { Calibration, Dataset } from "../../data/dataset.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { createEnvironment } from "../../simulate/environment.ts";
import { curveRounds, runPolicy } from "../../simulate/run.ts";
import { SETTINGS } from "../../simulate/settings.ts";
import type { LinearSpec, RunValue } from "./specs.ts";

/**
 * A world in which the theory's assumption holds: r(x, a_k) = <theta, phi(x, a_k)>
 * with phi = normalize(x o a_k), x and a_k on the unit sphere, theta of length 1.
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
  const embeddings = names.map((_, k) => onSphere(random.split("a").split(k)));
  const calibration: Calibration = {
    categories: ["all"],
    centroids: [new Float64Array(dimension)],
    sizes: [0],
    scores: names.map(() => new Float64Array(1)),
    embeddings,
    offline: [[]],
  };
  const pool = { ...calibration, models: names, told: calibration.scores, fitted: embeddings };
  const { rows } = createFeatures(pool, { ...FEATURE_DEFAULTS, weighting: "fitted" });
  const theta = onSphere(random.split("theta"));
  const vectors = Array.from({ length: rounds }, (_, i) => onSphere(random.split("x").split(i)));
  const dataset: Dataset = {
    models: names,
    categories: [],
    queries: vectors.map((x, i) => {
      const phi = rows(x);
      const scores = Float64Array.from(names, (_, k) =>
        dotAt(phi, k * dimension, theta, 0, dimension),
      );
      return { id: String(i), text: "", category: -1, scores };
    }),
    calibration,
  };
  const settings = { ...SETTINGS, rounds, voteScale, seed, told: { kind: "bundle" } as const };
  const environment = createEnvironment(dataset, vectors, settings, random.split("environment"));
  const contender = { kind, options: { ...kind.defaults, ...policy.options } };
  const measured = runPolicy(environment, contender, settings, random.split("policy"), (t) => {
    if (t % 32 === 0) context.check(t / rounds);
  });
  const value: RunValue = {
    t: curveRounds(rounds),
    regret: measured.curve,
    priced: measured.curve,
    score: measured.scorePerQuery,
    cost: null,
    agreement: measured.agreement,
    choices: [],
  };
  return { value };
}
