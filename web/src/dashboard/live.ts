import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../api/client.ts";
import { usePage } from "../shell/page.ts";

export interface Live<T> {
  readonly data: T | undefined;
  readonly problem: string | undefined;
  readonly refresh: () => void;
}

/**
 * What a path answers, asked again when something has happened, though at most
 * every `pace` milliseconds and never for more than a tenth of the time.
 */
export function useLive<T>(path: string | undefined, pace: number): Live<T> {
  const { feed } = usePage();
  const [found, setFound] = useState<{ path: string; data: T }>();
  const [problem, setProblem] = useState<string>();
  const refresh = useRef(() => {});
  useEffect(() => {
    if (path === undefined) return;
    const stop = new AbortController();
    let timer: number | undefined;
    let isAsking = false;
    let isStale = true;
    let notBefore = 0;
    const ask = async () => {
      timer = undefined;
      isAsking = true;
      isStale = false;
      const startedAt = performance.now();
      try {
        const data = await getJson<T>(path, stop.signal);
        setFound({ path, data });
        setProblem(undefined);
      } catch (error) {
        if (stop.signal.aborted) return;
        setProblem((error as Error).message);
      }
      notBefore = performance.now() + Math.max(pace, 9 * (performance.now() - startedAt));
      isAsking = false;
      plan();
    };
    const plan = () => {
      if (!isStale || isAsking || timer !== undefined || stop.signal.aborted) return;
      timer = window.setTimeout(ask, Math.max(0, notBefore - performance.now()));
    };
    const touch = () => {
      isStale = true;
      plan();
    };
    refresh.current = () => {
      notBefore = 0;
      clearTimeout(timer);
      timer = undefined;
      touch();
    };
    ask();
    const unlisten = feed.listen(touch);
    const unwatch = feed.connection.watch(({ state }) => {
      if (state === "live") touch();
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
      unlisten();
      unwatch();
    };
  }, [path, pace]);
  // Of another path there is nothing to show yet.
  const data = found?.path === path ? found?.data : undefined;
  return { data, problem, refresh: () => refresh.current() };
}
