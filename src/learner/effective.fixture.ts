import type { Learning, Logged, Voted } from "../store/events.ts";

/** A vote, and the position at which it began to count. */
export interface Effective {
  readonly vote: Logged<Voted>;
  readonly place: number;
}

/**
 * The obvious way to say which votes count: walk through the log and keep, after
 * each event, the whole list of them.
 */
export function effectiveVotes(events: readonly Logged<Learning>[]): readonly Effective[] {
  interface Moment {
    readonly list: readonly Effective[];
    /** Votes that came while frozen. */
    readonly kept: readonly Logged<Voted>[];
    /** Position of the freeze that lasts; 0: none. */
    readonly frozen: number;
  }
  let now: Moment = { list: [], kept: [], frozen: 0 };
  const moments: [number, Moment][] = [[0, now]];
  const forgotten = new Map<string, number>();
  const remembered = (vote: Logged<Voted>) => (forgotten.get(vote.voter) ?? 0) <= vote.position;
  for (const event of events) {
    const place = event.position;
    if (event.kind === "voted") {
      if (now.frozen > 0) now = { ...now, kept: [...now.kept, event] };
      else now = { ...now, list: [...now.list, { vote: event, place }] };
    } else if (event.kind === "frozen") {
      if (now.frozen === 0) now = { ...now, frozen: place, kept: [] };
    } else if (event.kind === "thawed") {
      const learnt = event.learn ? now.kept.map((vote) => ({ vote, place })) : [];
      now = { list: [...now.list, ...learnt], kept: [], frozen: 0 };
    } else if (event.kind === "rolled_back") {
      const [, then] = moments.findLast(([position]) => position <= event.to)!;
      // A freeze goes on, so what it had kept by then is still to come.
      const kept = then.frozen === now.frozen ? then.kept : [];
      now = {
        list: then.list.filter(({ vote }) => remembered(vote)),
        kept: kept.filter(remembered),
        frozen: now.frozen,
      };
    } else if (event.kind === "voter_forgotten") {
      forgotten.set(event.voter, place);
      now = {
        ...now,
        list: now.list.filter(({ vote }) => remembered(vote)),
        kept: now.kept.filter(remembered),
      };
    }
    moments.push([place, now]);
  }
  return now.list;
}
