import type { DecisionEvent, Voted } from "./events.ts";
import { Lane, type LaneSettings } from "./lane.ts";
import type { Receipt, Store } from "./store.ts";
import { type StoreUnavailable, VoteRefused } from "./store-error.ts";
import { systemTimers, type Timers } from "./timers.ts";

/**
 * The queues in front of the store. The entries of many requests share one commit. Votes are
 * committed at once and are never queued while the store is unavailable. Decisions and answers
 * wait for up to `delayMs` so that more can join them; while the store is unavailable they stay
 * in their queue up to a limit, and beyond it they are dropped and counted.
 */
export class GroupCommit {
  /** Each entry is a group of votes that are logged together. */
  readonly #votes: Lane<readonly Voted[], readonly Receipt[]>;
  readonly #decisions: Lane<Recorded, unknown>;
  readonly #settings: GroupCommitSettings;

  constructor(
    store: Pick<Store, "append" | "record">,
    settings: Partial<GroupCommitSettings> = {},
    timers: Timers = systemTimers,
  ) {
    this.#settings = { ...DEFAULTS, ...settings };
    const { delayMs, maxBatch, maxQueue, maxVotes } = this.#settings;
    let down = 0;
    const observed: Pick<LaneSettings, "onDown" | "onUp"> = {
      onDown: (error) => {
        if (down++ === 0) this.#settings.onDown?.(error);
      },
      onUp: () => {
        if (--down === 0) this.#settings.onUp?.();
      },
    };
    const forVotes = { delayMs: 0, maxBatch, maxQueue: maxVotes, ...observed };
    const append = async (
      groups: readonly (readonly Voted[])[],
    ): Promise<(readonly Receipt[])[]> => {
      const sizes = groups.map((group) => group.length);
      const receipts = await store.append(groups.flat(), sizes);
      let end = 0;
      return sizes.map((size) => {
        end += size;
        return receipts.slice(end - size, end);
      });
    };
    this.#votes = new Lane(append, forVotes, timers);
    const record = async (entries: readonly Recorded[]): Promise<unknown[]> => {
      const kept: DecisionEvent[] = [];
      const counted: DecisionEvent[] = [];
      for (const { event, isKept } of entries) (isKept ? kept : counted).push(event);
      await store.record(kept, counted);
      return [];
    };
    this.#decisions = new Lane(record, { delayMs, maxBatch, maxQueue, ...observed }, timers);
  }

  /**
   * Queues a decision or answer, which is stored within `delayMs` and one commit. If it is not to
   * be kept, it is only counted. Returns false if it was dropped.
   */
  log(event: DecisionEvent, isKept = true): boolean {
    return this.#decisions.add({ event, isKept });
  }

  /**
   * Logs a vote, which is durable when the promise resolves. Throws VoteRefused, or within
   * `voteMs` StoreUnavailable, after which the vote can be sent again.
   */
  async vote(vote: Voted): Promise<"logged" | "repeated"> {
    const [receipt] = await this.votes([vote]);
    return receipt!.status;
  }

  /** Logs several votes or, if one of them is refused, none. The error has the index of the refused one. */
  async votes(votes: readonly Voted[]): Promise<LoggedReceipt[]> {
    const receipts = await this.#votes.submit(votes, this.#settings.voteMs);
    receipts.forEach((receipt, index) => {
      if (receipt.status === "refused") throw new VoteRefused(receipt.reason, { index });
    });
    return receipts as LoggedReceipt[];
  }

  /** Counts since the start, the number of queued entries, and whether the store is down. */
  get stats() {
    const [votes, decisions] = [this.#votes.stats, this.#decisions.stats];
    return {
      logged: votes.logged + decisions.logged,
      commits: votes.commits + decisions.commits,
      failedCommits: votes.failedCommits + decisions.failedCommits,
      dropped: decisions.dropped,
      waiting: votes.waiting + decisions.waiting,
      down: votes.down || decisions.down,
    };
  }

  /** Tries to write all queued entries. */
  async flush(): Promise<void> {
    await Promise.all([this.#votes.flush(), this.#decisions.flush()]);
  }

  /** Writes all queued entries. Those that cannot be written are dropped and counted. */
  async close(): Promise<void> {
    await Promise.all([this.#votes.close(), this.#decisions.close()]);
  }
}

/** The receipt of a vote that is in the log. */
export type LoggedReceipt = Extract<Receipt, { readonly isLearned: boolean }>;

interface Recorded {
  readonly event: DecisionEvent;
  readonly isKept: boolean;
}

export interface GroupCommitSettings {
  /** Longest time that a decision waits in the queue. Together with the commit it stays well below 100 ms. */
  readonly delayMs: number;
  /** Largest number of entries in one transaction. */
  readonly maxBatch: number;
  /** Largest number of decisions and answers in the queue. */
  readonly maxQueue: number;
  /** Largest number of votes in the queue. */
  readonly maxVotes: number;
  /** Longest time that a vote waits for the database. */
  readonly voteMs: number;
  /** Called when the store becomes unavailable. */
  readonly onDown?: (error: StoreUnavailable) => void;
  /** Called when the store is available again. */
  readonly onUp?: () => void;
}

const DEFAULTS: GroupCommitSettings = {
  delayMs: 50,
  maxBatch: 500,
  maxQueue: 10_000,
  maxVotes: 5000,
  voteMs: 1500,
};
