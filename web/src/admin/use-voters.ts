import { useState } from "preact/hooks";
import type { VoterList } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";

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
  /** Names with which the pages before this one and this one start. */
  const [starts, setStarts] = useState<readonly string[]>([""]);
  const from = starts.at(-1)!;
  const previous = () => setStarts(starts.slice(0, -1));
  const read = async () => {
    const found = await joust.routerVoters(router, { limit: PAGE, ...(from !== "" && { from }) });
    // The last voter of this page may be forgotten.
    if (found.data.length === 0 && starts.length > 1) previous();
    return found;
  };
  const { data: list, problem, refresh } = useRead(read, [from], REFRESH_MS);
  return {
    list,
    problem,
    hasPrevious: starts.length > 1,
    refresh,
    next: () => {
      if (list?.next != null) setStarts([...starts, list.next]);
    },
    previous,
  };
}

const PAGE = 25;
const REFRESH_MS = 5000;
