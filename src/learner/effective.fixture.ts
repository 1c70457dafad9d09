import type { LogEvent, Logged, Voted } from "../store/events.ts";

/** A vote, the position at which it counts, and the weight of its voter. */
export interface Effective {
  readonly vote: Logged<Voted>;
  readonly position: number;
  readonly weight: number;
}

/**
 * The obvious implementation of VoteSchedule: walks through the log and keeps the list of votes that
 * count after each event.
 */
export function effectiveVotes(events: readonly Logged<LogEvent>[]): readonly Effective[] {
  interface State {
    readonly list: readonly Omit<Effective, "weight">[];
    /** Votes logged during the current freeze. */
    readonly kept: readonly Logged<Voted>[];
    /** Position of the current freeze, or 0. */
    readonly frozen: number;
  }
  let now: State = { list: [], kept: [], frozen: 0 };
  const states: [number, State][] = [[0, now]];
  for (const event of events) {
    const { position } = event;
    if (event.kind === "voted") {
      if (now.frozen > 0) now = { ...now, kept: [...now.kept, event] };
      else now = { ...now, list: [...now.list, { vote: event, position }] };
    } else if (event.kind === "frozen") {
      if (now.frozen === 0) now = { ...now, frozen: position, kept: [] };
    } else if (event.kind === "thawed") {
      const learned = event.learn ? now.kept.map((vote) => ({ vote, position })) : [];
      now = { list: [...now.list, ...learned], kept: [], frozen: 0 };
    } else if (event.kind === "rolled_back") {
      const [, then] = states.findLast(([at]) => at <= event.to)!;
      // If the freeze continues, the votes that it had kept by then still wait for the thaw.
      const kept = then.frozen === now.frozen ? then.kept : [];
      now = { list: then.list, kept, frozen: now.frozen };
    }
    states.push([position, now]);
  }
  return now.list
    .map((one) => ({ ...one, weight: weightOf(events, one.vote.voter) }))
    .filter(({ weight }) => weight > 0);
}

/** The last weight of a voter, whether it was set before or after the votes. */
function weightOf(events: readonly Logged<LogEvent>[], voter: string): number {
  const weighings = events.filter((event) => event.kind === "voter_weighed");
  return weighings.findLast((event) => event.voter === voter)?.weight ?? 1;
}
