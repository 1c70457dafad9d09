import type { Learning, Logged, Voted } from "../store/events.ts";

/** A vote and the position at which it counts. */
export interface Effective {
  readonly vote: Logged<Voted>;
  readonly position: number;
}

/**
 * The obvious implementation of VoteSchedule: walks through the log and keeps the list of votes that
 * count after each event.
 */
export function effectiveVotes(events: readonly Logged<Learning>[]): readonly Effective[] {
  interface State {
    readonly list: readonly Effective[];
    /** Votes logged during the current freeze. */
    readonly kept: readonly Logged<Voted>[];
    /** Position of the current freeze, or 0. */
    readonly frozen: number;
  }
  let now: State = { list: [], kept: [], frozen: 0 };
  const states: [number, State][] = [[0, now]];
  const forgotten = new Map<string, number>();
  const isRemembered = (vote: Logged<Voted>) => (forgotten.get(vote.voter) ?? 0) <= vote.position;
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
      now = {
        list: then.list.filter(({ vote }) => isRemembered(vote)),
        kept: kept.filter(isRemembered),
        frozen: now.frozen,
      };
    } else if (event.kind === "voter_forgotten") {
      forgotten.set(event.voter, position);
      now = {
        ...now,
        list: now.list.filter(({ vote }) => isRemembered(vote)),
        kept: now.kept.filter(isRemembered),
      };
    }
    states.push([position, now]);
  }
  return now.list;
}
