import type { Stats } from "../../../src/client.ts";

/**
 * Estimated cost of learning: the second answers of duels. Each model's answers in duels are priced at
 * the mean cost of its answers, and half of the answers in duels are second ones.
 */
export function learningCost({ models, spend }: Pick<Stats, "models" | "spend">): number {
  const duels = models.reduce(
    (sum, { cost, given, duels: played }) => sum + (given > 0 ? (cost / given) * played : 0),
    0,
  );
  return Math.min(spend.total, duels / 2);
}
