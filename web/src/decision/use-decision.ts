import { useEffect, useState } from "preact/hooks";
import type { Decision } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";

interface ReadDecision {
  readonly decision?: Decision;
  /** Message of the error that the last attempt to read it ended with. */
  readonly problem?: string;
}

/**
 * Reads a decision, and reads it again whenever the gateway reports an event about it. While
 * `isComplete` says that something is still missing, a new posterior also counts as an event,
 * and a few quick retries cover the moment between an event and its entry in the log.
 *
 * Nothing is read while `phase` is undefined; each new value of `phase` causes another
 * read.
 */
export function useDecision(
  id: string | undefined,
  phase: string | undefined,
  isComplete: (decision: Decision) => boolean,
): ReadDecision {
  const { feed } = usePage();
  const [state, setState] = useState<ReadDecision & { readonly id?: string }>({});
  useEffect(() => {
    if (id === undefined || phase === undefined) return;
    const stop = new AbortController();
    let timer: number | undefined;
    let isMissing = true;
    let reads = 0;
    const read = async (attempt: number) => {
      clearTimeout(timer);
      const own = ++reads;
      // A late response does not replace a newer one.
      const isOld = () => stop.signal.aborted || own !== reads;
      try {
        const decision = await joust.decision(id, { signal: stop.signal });
        if (isOld()) return;
        setState({ id, decision });
        isMissing = !isComplete(decision);
      } catch (error) {
        if (isOld()) return;
        const problem = (error as Error).message;
        setState((before) => ({ ...(before.id === id && before), id, problem }));
      }
      const pause = RETRY_MS[attempt];
      if (isMissing && pause !== undefined) timer = window.setTimeout(read, pause, attempt + 1);
    };
    read(0);
    const unlisten = feed.listen(({ type, data }) => {
      const isAboutIt = "id" in data && data.id === id && type !== "decision";
      if (isAboutIt || (isMissing && type === "posterior")) read(0);
    });
    const unwatch = feed.connection.watch(({ state: now }) => now === "live" && read(0));
    return () => {
      stop.abort();
      clearTimeout(timer);
      unlisten();
      unwatch();
    };
  }, [id, phase]);
  return state.id === id ? state : {};
}

const RETRY_MS = [60, 120, 250, 500, 1000, 2000, 4000, 8000];
