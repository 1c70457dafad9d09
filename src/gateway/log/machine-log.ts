import { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Peers } from "../peers/peers.ts";
import type { Flushable } from "./logged.ts";

/** The log of a gateway, which can wait for the queues of the other processes of this machine. */
export class MachineLog extends GroupCommit implements Flushable {
  readonly #peers: Peers;

  constructor(store: Pick<Store, "append" | "record">, peers: Peers) {
    super(store);
    this.#peers = peers;
    peers.answer("flush", () => this.flush());
  }

  async flushOthers(): Promise<void> {
    await this.#peers.ask("flush");
  }
}
