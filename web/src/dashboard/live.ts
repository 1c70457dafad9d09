import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type CallOptions } from "../../../src/client.ts";
import { usePage } from "../page/page.ts";

export interface Live<T> {
  readonly data: T | undefined;
  readonly problem: string | undefined;
  readonly refresh: () => void;
}

/**
 * Returns the result of `read` and keeps it up to date. `key` names everything that the
 * result depends on; nothing is read while it is undefined. `read` is called again after
 * each event of the gateway and after a temporary failure, but at most every `pace`
 * milliseconds, and requests take at most a tenth of the time.
 */
export function useLive<T>(
  key: string | undefined,
  read: (options: CallOptions) => Promise<T>,
  pace: number,
): Live<T> {
  const { feed } = usePage();
  const [found, setFound] = useState<{ key: string; data: T }>();
  const [failed, setFailed] = useState<{ key: string; problem: string }>();
  const refresh = useRef(() => {});
  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    let timer: number | undefined;
    let isRequesting = false;
    let isStale = true;
    let notBefore = 0;
    const request = async () => {
      timer = undefined;
      isRequesting = true;
      isStale = false;
      const startedAt = performance.now();
      let pause = pace;
      try {
        const data = await read({ signal: stop.signal });
        if (stop.signal.aborted) return;
        setFound({ key, data });
        setFailed(undefined);
      } catch (error) {
        if (stop.signal.aborted) return;
        setFailed({ key, problem: (error as Error).message });
        isStale ||= !(error instanceof ApiError) || error.isTemporary;
        pause = Math.min(pace, RETRY_MS);
      }
      notBefore = performance.now() + Math.max(pause, 9 * (performance.now() - startedAt));
      isRequesting = false;
      schedule();
    };
    const schedule = () => {
      if (!isStale || isRequesting || timer !== undefined || stop.signal.aborted) return;
      timer = window.setTimeout(request, Math.max(0, notBefore - performance.now()));
    };
    const invalidate = () => {
      isStale = true;
      schedule();
    };
    refresh.current = () => {
      notBefore = 0;
      clearTimeout(timer);
      timer = undefined;
      invalidate();
    };
    request();
    const unlisten = feed.listen(invalidate);
    const unwatch = feed.connection.watch(({ state }) => {
      if (state === "live") invalidate();
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
      unlisten();
      unwatch();
    };
  }, [key, pace]);
  // A result that belongs to another key is not returned.
  const data = found?.key === key ? found?.data : undefined;
  const problem = failed?.key === key ? failed?.problem : undefined;
  return { data, problem, refresh: () => refresh.current() };
}

const RETRY_MS = 5000;
