import { useEffect, useRef, useState } from "preact/hooks";
import type { VoterList } from "../../../src/client.ts";
import { joust, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useValue } from "../state/observable.ts";

export interface VoterPages {
  /** The page that is shown; undefined until it has been read. */
  readonly list: VoterList | undefined;
  readonly problem: string | undefined;
  readonly hasPrevious: boolean;
  refresh(): Promise<void>;
  next(): void;
  previous(): void;
}

/** The voters of a router, page by page. The page is read again every few seconds, because the learner's estimates change. */
export function useVoters(router: string): VoterPages {
  const [list, setList] = useState<VoterList>();
  const [problem, setProblem] = useState<string>();
  /** Names with which the pages before this one and this one start. */
  const [starts, setStarts] = useState<readonly string[]>([""]);
  const from = starts.at(-1)!;
  const key = useValue(session)?.key?.name;
  const connection = useValue(usePage().feed.connection).state;
  /** Number of the last read, so that a late response does not replace a newer one. */
  const reads = useRef(0);
  const refresh = async () => {
    const read = ++reads.current;
    try {
      const found = await joust.routerVoters(router, { limit: PAGE, ...(from !== "" && { from }) });
      if (read !== reads.current) return;
      setList(found);
      setProblem(undefined);
      // The last voter of this page may be forgotten.
      if (found.data.length === 0 && starts.length > 1) setStarts(starts.slice(0, -1));
    } catch (error) {
      if (read === reads.current) setProblem((error as Error).message);
    }
  };
  useEffect(() => {
    refresh();
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [from, key, connection]);
  return {
    list,
    problem,
    hasPrevious: starts.length > 1,
    refresh,
    next: () => {
      if (list?.next != null) setStarts([...starts, list.next]);
    },
    previous: () => setStarts(starts.slice(0, -1)),
  };
}

const PAGE = 25;
const REFRESH_MS = 5000;
