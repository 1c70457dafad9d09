import { LINEAR_ABOUT, LINEAR_DEFAULTS, linearDuel, type PairRule } from "../linear-duel.ts";
import { argmax, type PolicyKind } from "../policy.ts";

const DEFAULTS = { ...LINEAR_DEFAULTS, c: 2, threshold: 1, independent: 1, relative: true };

/**
 * CoLSTIM (algorithm 1 of Bengs et al. 2022) imitates the votes: the first model has
 * the largest perturbed score, the second is its strongest competitor,
 *
 *   i = argmax phi_i . theta + eps_i |phi_i|_Vinv,   eps_i ~ Gumbel, clipped
 *   j = argmax phi_j . theta + c |phi_j - phi_i|_Vinv.
 *
 * The noise is Gumbel because the difference of two Gumbel variables is logistic, as
 * the votes are.
 *
 * Our deviations: (1) votes never reduce the uncertainty of what all phi have in common, so
 * |phi_i| keeps its prior uncertainty for ever; `relative` subtracts the mean phi of the
 * candidates, which does not change the probability of any vote. (2) c and the threshold are
 * tuned; the paper has sqrt(d log T) for both. (3) There are no initial rounds with random
 * pairs, because V is regularised.
 */
function colstimRule({ c, threshold, independent, relative }: typeof DEFAULTS): PairRule {
  return ({ f, width, widthFromMean }, candidates, random) => {
    const draw = () => Math.max(-threshold, Math.min(threshold, random.gumbel()));
    const common = random.uniform() < independent ? undefined : draw();
    const over = relative ? candidates : [];
    const i = argmax(
      candidates,
      (k) => f[k]! + (common ?? draw()) * widthFromMean(k, over),
      random,
    );
    const j = argmax(candidates, (k) => f[k]! + c * width(k, i), random);
    return [i, j];
  };
}

export const colstim: PolicyKind<typeof DEFAULTS> = {
  name: "colstim",
  summary: "duel between the largest randomly perturbed score and its strongest competitor",
  source:
    "Bengs et al. 2022, Stochastic contextual dueling bandits under linear stochastic transitivity models",
  defaults: DEFAULTS,
  about: {
    ...LINEAR_ABOUT,
    c: {
      meaning: "weight of the uncertainty in favour of the second model (c_1 in the paper)",
      min: 0,
    },
    threshold: { meaning: "bound on the perturbations (C_thresh in the paper)", min: 0 },
    independent: {
      meaning:
        "probability that the models are perturbed independently instead of all by the same amount (p_t in the paper)",
      min: 0,
      max: 1,
    },
    relative: {
      meaning: "whether perturbations are scaled by |phi_i - mean phi| instead of |phi_i|",
    },
  },
  create: (pool, options) => linearDuel(pool, options, colstimRule(options)),
};
