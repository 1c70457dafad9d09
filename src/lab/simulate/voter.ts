import { davidson } from "../../core/bandit/btl.ts";
import type { Outcome } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { Arrival } from "./environment.ts";
import type { Settings } from "./settings.ts";

/** A simulated vote on the pair in the order in which it was shown. */
export interface SimulatedVote {
  readonly outcome: Outcome;
  readonly voter: string;
}

/**
 * Simulates a vote. If the data holds a verdict on the pair, the vote repeats it. Otherwise
 * the outcome follows Davidson's model (BTL with ties) on the true utilities. The voter may
 * be noisy or malicious. One uniform number decides the outcome, so that two policies which
 * show the same pair in the same round get the same vote.
 */
export function castVote(
  arrival: Arrival,
  pair: readonly [number, number],
  settings: Settings,
  random: Random,
): SimulatedVote {
  const { count, noisy, malicious, position, bothBad } = settings.voters;
  const index = random.split("voter").integer(count);
  const voter = `voter-${index}`;
  // Voters keep their character for the whole run: the first ones are noisy, the next malicious.
  const character = (index + 0.5) / count;
  const u = random.split("outcome").uniform();
  if (character < noisy) return { voter, outcome: u < 0.5 ? "a" : "b" };
  const truth = honestVote(arrival, pair, settings, position, bothBad, u);
  return { voter, outcome: character < noisy + malicious ? opposite(truth) : truth };
}

function honestVote(
  arrival: Arrival,
  [a, b]: readonly [number, number],
  settings: Settings,
  position: number,
  bothBad: number,
  u: number,
): Outcome {
  const stored = arrival.query.comparisons?.filter(
    (verdict) => (verdict.a === a && verdict.b === b) || (verdict.a === b && verdict.b === a),
  );
  if (stored && stored.length > 0) {
    const verdict = stored[Math.min(stored.length - 1, Math.floor(u * stored.length))]!;
    return verdict.a === a ? verdict.outcome : opposite(verdict.outcome);
  }
  const ua = arrival.utilities[a]!;
  const ub = arrival.utilities[b]!;
  if (bothBad > 0 && ua < bothBad && ub < bothBad) return "both_bad";
  const p = davidson(settings.voteScale * (ua - ub) + position, settings.ties);
  return u < p.a ? "a" : u < p.a + p.tie ? "tie" : "b";
}

function opposite(outcome: Outcome): Outcome {
  return outcome === "a" ? "b" : outcome === "b" ? "a" : outcome;
}
