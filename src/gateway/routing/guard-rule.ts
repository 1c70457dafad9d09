import { ENOUGH_EXPLORED } from "../../learner/estimates.ts";
import type { LogEvaluation } from "../../learner/evaluate.ts";

/**
 * The fixed model that does better than routing, if there is evidence: the 95% interval of the
 * gain of "always MODEL" over the policy's choices lies above 0 (doubly robust estimate on the
 * votes in the log). Routing trades quality for cost on purpose, so only a model that costs no
 * more is considered.
 */
export function guardModel(evaluation: LogEvaluation): string | undefined {
  const { targets, costs, votes, explored } = evaluation;
  if (votes < FEWEST_VOTES || explored < ENOUGH_EXPLORED) return undefined;
  const routed = costs[0];
  const better = targets.flatMap(({ name, gain }, t) => {
    const model = /^always (.+)$/.exec(name)?.[1];
    const cost = costs[t];
    const costsMore = routed !== undefined && cost !== undefined && cost > SAME * routed;
    return model !== undefined && gain.lo > 0 && !costsMore ? [{ model, gain: gain.mean }] : [];
  });
  return better.toSorted((a, b) => b.gain - a.gain)[0]?.model;
}

/**
 * Number of the newest decisions that are evaluated. The limit bounds the time of an
 * evaluation, and a router is not judged by its first decisions.
 */
export const WINDOW = 200_000;

/** Number of voted duels below which the interval is not trusted. */
export const FEWEST_VOTES = 200;
/** Factor within which two costs count as equal. */
const SAME = 1.02;
