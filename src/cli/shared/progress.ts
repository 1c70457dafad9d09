import type { Store } from "../../store/store.ts";
import { interruptible } from "./interrupt.ts";
import { statusLine, type Terminal } from "./status-line.ts";

/** Shows the state of a long command in one line of the terminal. */
export type ShowProgress = (text: string) => void;

/** Runs a long command. Its progress is drawn on standard error, if that is a terminal, and erased at the end. */
export async function withProgress<T>(
  work: (show: ShowProgress) => Promise<T>,
  terminal: Terminal = process.stderr,
  now: () => number = () => performance.now(),
): Promise<T> {
  const line = statusLine(terminal);
  let shownAt = Number.NEGATIVE_INFINITY;
  try {
    return await work((text) => {
      if (!line || now() - shownAt < LEAST_MS) return;
      shownAt = now();
      line.show(text);
    });
  } finally {
    line?.clear();
  }
}

/**
 * Runs a long command that Ctrl-C or SIGTERM stops, and prints the text that it returns. `stopped` is
 * the message after an interruption. Returns the exit code.
 */
export async function interruptibly(
  work: (show: ShowProgress, signal: AbortSignal) => Promise<string>,
  stopped: () => string | Promise<string> = () =>
    "joust: stopped; run the same command again to continue\n",
): Promise<number> {
  const interrupt = interruptible();
  try {
    process.stdout.write(await withProgress((show) => work(show, interrupt.signal)));
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    process.stderr.write(await stopped());
    return interrupt.code;
  } finally {
    interrupt.release();
  }
}

/** The line is drawn at most this often, in milliseconds. */
const LEAST_MS = 100;

/** A store that shows how far votes and decisions of a router were read. */
export function watchedStore(store: Store, show: ShowProgress): Store {
  const heads = new Map<string, Promise<number>>();
  const watched: Partial<Store> = {
    logEvents: async (router, after, limit) => {
      const head = heads.get(router) ?? store.head(router);
      heads.set(router, head);
      show(`votes of ${router}: position ${after} of ${await head}`);
      return store.logEvents(router, after, limit);
    },
    routed: (query) => {
      const from = query.after?.at ?? query.since ?? 0;
      if (from > 0)
        show(`decisions of ${query.router}: ${new Date(from).toISOString().slice(0, 16)}`);
      return store.routed(query);
    },
    decisions: (query) => {
      const { at } = query.before ?? {};
      if (at) show(`decisions of ${query.router}: ${new Date(at).toISOString().slice(0, 16)}`);
      return store.decisions(query);
    },
  };
  return new Proxy(store, {
    get: (_, name) => {
      const own: unknown = Reflect.get(watched, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? value.bind(store) : value;
    },
  });
}
