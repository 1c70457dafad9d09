/**
 * The Bradley-Terry-Luce model of a vote, and related functions.
 *
 * The paper writes P(y=1) = exp(-sigma(z)) with sigma(z) = log(1 + exp(-z)). That
 * probability is the logistic function of z. The paper's sigma itself is the softplus
 * of -z, not the logistic function.
 */

/** 1 / (1 + e^-z) */
export function sigmoid(z: number): number {
  if (z >= 0) return 1 / (1 + Math.exp(-z));
  const e = Math.exp(z);
  return e / (1 + e);
}

/** log(1 + e^z), without overflow. */
export function softplus(z: number): number {
  return z > 0 ? z + Math.log1p(Math.exp(-z)) : Math.log1p(Math.exp(z));
}

/**
 * Davidson's (1970) extension to ties, with strengths e^(z/2) and e^(-z/2): P(tie) is
 * proportional to `width`. Width 0 is the model without ties; with width 1, a third of
 * the votes between equal models are ties.
 */
export function davidson(z: number, width: number): { a: number; tie: number; b: number } {
  // All three terms are divided by the stronger side, so that nothing overflows.
  const weaker = Math.exp(-Math.abs(z));
  const tie = width * Math.exp(-Math.abs(z) / 2);
  const total = 1 + weaker + tie;
  const stronger = 1 / total;
  const other = weaker / total;
  return z >= 0
    ? { a: stronger, tie: tie / total, b: other }
    : { a: other, tie: tie / total, b: stronger };
}

/** The logarithm of a probability, which is finite for 0, too. */
export function safeLog(p: number): number {
  return Math.log(Math.max(p, 1e-300));
}
