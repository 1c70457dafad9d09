/**
 * The gateways of the other processes on this machine (docs/decisions/0042-processes.md). Each
 * process has a whole gateway. News carry changes that all processes must know; questions find data
 * that only one process has in memory. A gateway that is alone has `ALONE`.
 */
export interface Peers {
  /** Name of this process. No other process, earlier or later, has the same one. */
  readonly id: string;
  /** Number of processes, this one included. */
  readonly count: number;
  /** Whether this process does the work that one process does for all. */
  readonly isFirst: boolean;
  /** Secret that the processes share, for requests that the machine sends to itself; undefined if there is only one. */
  readonly secret: string | undefined;
  /** Limits of the machine; undefined if there is only one process, which counts by itself. */
  readonly limits: MachineLimits | undefined;

  /** Sends news to all other processes. */
  tell(topic: string, news: unknown): void;
  /**
   * Sends news to all other processes, and to those that start later, until newer news with the
   * same key replace them.
   */
  keep(topic: string, key: string, news: unknown): void;
  /** Receives the news of a topic. */
  on(topic: string, listener: (news: never) => void): void;

  /** Asks all other processes and returns their answers. A process that ends gives none. */
  ask(topic: string, question?: unknown): Promise<unknown[]>;
  /** Answers the questions of a topic. */
  answer(topic: string, handler: (question: never) => unknown): void;

  /** Calls back when another process has ended, with its id. */
  onGone(listener: (id: string) => void): void;
  /** Calls back when this process has become the first one, which works for all. */
  onFirst(listener: () => void): void;
  /** Metrics of all processes, each as its registry returns them. */
  metrics(): Promise<unknown[]>;
}

/** Limits that hold for all processes of a machine together. */
export interface MachineLimits {
  /** Takes a token of a client's rate and returns 0, or returns the seconds until there is one. */
  take(perMinute: number, client: string): Promise<number>;
  /**
   * Asks for up to `wanted` permits of a client, of which all processes together have at most
   * `limit`, after giving `returned` permits back. Returns how many this process gets; 0 if all are
   * in use.
   */
  acquire(client: string, limit: number, wanted: number, returned: number): Promise<number>;
  /** Sets the function that gives back permits that are not in use, at most `most`, and returns their number. */
  onRecall(giveBack: (client: string, most: number) => number): void;
}

/** Peers of a gateway whose process is the only one. */
export const ALONE: Peers = {
  id: "alone",
  count: 1,
  isFirst: true,
  secret: undefined,
  limits: undefined,
  tell() {},
  keep() {},
  on() {},
  ask: async () => [],
  answer() {},
  onGone() {},
  onFirst() {},
  metrics: async () => [],
};
