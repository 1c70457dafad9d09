import { useCallback, useEffect, useState } from "preact/hooks";
import { session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useValue } from "../state/observable.ts";

export interface Read<T> {
  readonly data: T | undefined;
  readonly problem: string | undefined;
  readonly refresh: () => void;
}

/** The result of a request, which is sent again after signing in, after a lost connection and by `refresh`. */
export function useRead<T>(read: () => Promise<T>, everyMs?: number): Read<T> {
  const [data, setData] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const key = useValue(session)?.key?.name;
  const connection = useValue(usePage().feed.connection).state;
  const refresh = useCallback(() => {
    read().then(
      (next) => {
        setData(next);
        setProblem(undefined);
      },
      (error: Error) => setProblem(error.message),
    );
  }, []);
  useEffect(() => {
    refresh();
    if (everyMs === undefined) return;
    const timer = setInterval(refresh, everyMs);
    return () => clearInterval(timer);
  }, [key, connection]);
  return { data, problem, refresh };
}
