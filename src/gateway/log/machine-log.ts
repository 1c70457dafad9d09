import type { Logger } from "pino";
import { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Peers } from "../peers/peers.ts";
import type { Flushable } from "./logged.ts";

/**
 * Longest time that a decision waits in the queue: of a single process, and of one of several
 * processes.
 */
const DELAY_MS = 50;
const MOST_DELAY_MS = 200;
const DOWN = "votes are refused and decisions wait in memory until it is available again";

/** The log of a gateway, which can wait for the queues of the other processes of this machine. */
export class MachineLog extends GroupCommit implements Flushable {
  readonly #peers: Peers;

  constructor(store: Pick<Store, "append" | "record">, peers: Peers, logger: Logger) {
    // Several processes together make as many commits as one, and a crash loses as many decisions.
    super(store, {
      delayMs: Math.min(MOST_DELAY_MS, DELAY_MS * peers.count),
      onDown: ({ message }) => logger.error({ hint: DOWN }, message),
      onUp: () => logger.info("the store is available again"),
    });
    this.#peers = peers;
    peers.answer("flush", () => this.flush());
  }

  async flushOthers(): Promise<void> {
    await this.#peers.ask("flush");
  }
}
