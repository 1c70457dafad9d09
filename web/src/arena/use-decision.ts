import { useEffect, useState } from "preact/hooks";
import { type Decision, getDecision } from "../api/decision.ts";

/**
 * A decision, read until it is whole: all answers are logged, and the learner has
 * seen the vote. Again with each new `phase`; without one it is not to be read yet.
 */
export function useDecision(
  id: string | undefined,
  phase: string | undefined,
  isWhole: (decision: Decision) => boolean,
): Decision | undefined {
  const [decision, setDecision] = useState<Decision>();
  useEffect(() => {
    if (id === undefined || phase === undefined) return;
    const stop = new AbortController();
    let timer: number | undefined;
    const read = async (attempt: number) => {
      const found = await getDecision(id, stop.signal).catch(() => undefined);
      if (stop.signal.aborted) return;
      if (found) setDecision(found);
      if (attempt < PAUSES.length && !(found && isWhole(found))) {
        timer = window.setTimeout(() => read(attempt + 1), PAUSES[attempt]);
      }
    };
    read(0);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id, phase]);
  return decision;
}

const PAUSES = [60, 120, 250, 500, 1000, 2000, 4000, 8000];
