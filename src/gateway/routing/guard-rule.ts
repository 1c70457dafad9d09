import { ENOUGH_EXPLORED } from "../../learner/estimates.ts";
import type { LogEvaluation } from "../../learner/evaluate.ts";

/**
 * The fixed model that does better than routing, if the evidence says so: the
 * 95% interval of what "always MODEL" gains over the policy as it chose then
 * lies above 0 (doubly robust, on the log's own votes). Routing gives up some
 * quality for cost on purpose, so only a model that costs no more counts.
 */
export function guardModel(evaluation: LogEvaluation): string | undefined {
  const { targets, costs, votes, explored } = evaluation;
  if (votes < FEWEST_VOTES || explored < ENOUGH_EXPLORED) return undefined;
  const routed = costs[0];
  const better = targets.flatMap(({ name, gain }, t) => {
    const model = /^always (.+)$/.exec(name)?.[1];
    const cost = costs[t];
    const isDearer = routed !== undefined && cost !== undefined && cost > SAME * routed;
    return model !== undefined && gain.lo > 0 && !isDearer ? [{ model, gain: gain.mean }] : [];
  });
  return better.toSorted((a, b) => b.gain - a.gain)[0]?.model;
}

/**
 * Entries of the log looked back on: to judge costs no more when the log grows,
 * and a router is not held to what it did when it knew nothing.
 */
export const WINDOW = 500_000;

/** Duels voted on: with fewer the interval says little, whatever it says. */
export const FEWEST_VOTES = 200;
const SAME = 1.02;
