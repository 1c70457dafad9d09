import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../api/client.ts";
import { useValue } from "../state/observable.ts";
import { usePage } from "./page.ts";

interface Read<T> {
  readonly data: T | undefined;
  readonly problem: string | undefined;
  readonly refresh: () => Promise<void>;
  /** Replaces the data. The response of a request that is still running is then ignored. */
  readonly set: (data: T) => void;
}

/**
 * The result of a request. The request is sent again by `refresh`, when `dependencies` change, after signing in, after a
 * lost connection, and every `everyMs` milliseconds. A late response does not replace a newer one.
 */
export function useRead<T>(
  read: () => Promise<T>,
  dependencies: readonly unknown[] = [],
  everyMs?: number,
): Read<T> {
  const [data, setData] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const key = useValue(session)?.key?.name;
  const isLost = useValue(usePage().feed.connection).state === "lost";
  const newest = useRef(read);
  newest.current = read;
  const reads = useRef(0);
  const set = (next: T) => {
    reads.current++;
    setData(() => next);
    setProblem(undefined);
  };
  const refresh = async () => {
    const own = ++reads.current;
    try {
      const next = await newest.current();
      if (own === reads.current) set(next);
    } catch (error) {
      if (own === reads.current) setProblem((error as Error).message);
    }
  };
  useEffect(() => {
    if (isLost) return;
    refresh();
    if (everyMs === undefined) return;
    const timer = setInterval(refresh, everyMs);
    return () => clearInterval(timer);
  }, [key, isLost, ...dependencies]);
  return { data, problem, refresh, set };
}
