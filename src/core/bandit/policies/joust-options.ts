import type { About } from "../policy.ts";

export const JOUST_DEFAULTS = {
  horizon: 300,
  minGain: 0,
  drift: 1,
  robust: 1,
  ties: 0.5,
  bothBad: 1,
  pointwise: 0.25,
  position: true,
  onboarding: 0.2,
};
export type JoustOptions = typeof JOUST_DEFAULTS;

/** Options of 0.1, and why they are gone. */
export const JOUST_REMOVED = {
  rule: "joust now duels the challenger whose votes are worth most, and has no other rule",
  alpha: "horizon sets how much joust explores",
  patience: "horizon sets how much joust explores",
};

export const JOUST_ABOUT: About<JoustOptions> = {
  horizon: {
    meaning:
      "number of coming requests that a vote may improve, before the first vote; later half of the number of votes is added",
    min: 1,
  },
  minGain: {
    meaning: "smallest gain, in utility, for which a duel is worth its second answer",
    min: 0,
  },
  drift: {
    meaning: "share of the knowledge that is still true one vote later; 1 if nothing changes",
    above: 0,
    max: 1,
  },
  robust: {
    meaning:
      "bound on the influence of a surprising vote: robust / sd of its logit; 0 for no bound",
    min: 0,
  },
  ties: { meaning: "weight of a tie, relative to a win; 0 ignores ties", min: 0 },
  bothBad: {
    meaning: "weight of a both_bad vote as a dislike of both answers; 0 treats it as a tie only",
    min: 0,
  },
  pointwise: {
    meaning:
      "weight of a person's rating of a single answer, relative to a vote; 0 ignores all ratings, also metrics and signals",
    min: 0,
  },
  position: { meaning: "whether a preference of voters for the answer shown first is estimated" },
  onboarding: {
    meaning: "share of requests in which a newly added model duels, until it has had 12 duels",
    min: 0,
    max: 1,
  },
};
