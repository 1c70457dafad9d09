import { SIGNAL } from "../core/bandit/kind-beliefs.ts";
import type { Origin } from "../core/bandit/policy.ts";
import type { Voted } from "../store/events.ts";

/**
 * The origin of a vote that is not a person's: a judge (including that of an evaluation), a signal or a declared
 * metric.
 */
export function originOf({ voter, metric, traits }: OriginFacts): Origin | undefined {
  if (isReservedVoter(voter)) return { kind: voter, ...traits };
  return metric ? { kind: `metric:${metric.name}` } : undefined;
}

type OriginFacts = Pick<Voted, "voter" | "metric" | "traits">;

/** Whether a name is that of a judge or of a signal; people cannot choose such a name. */
export function isReservedVoter(voter: string): boolean {
  return voter.startsWith("judge:") || voter.startsWith(SIGNAL);
}
