import { createServer, type Server, type Socket } from "node:net";
import { clientAddress } from "../access/client-address.ts";
import type { Config } from "../config/config.ts";
import { ConnectionCounts, type ConnectionLimits } from "../server/connections.ts";
import { listen } from "../server/listen.ts";

/** A process that gets connections. */
export interface Receiver {
  pass(socket: Socket, address: string): void;
  /** Closes a connection that can be spared (see `Connections`), of one address or of all. Returns false if there is none. */
  makeRoom(address?: string): Promise<boolean>;
  /** Starts or stops refusing the requests of an address; "" stands for all addresses. */
  setFull(address: string, isFull: boolean): void;
}

/**
 * Accepts the connections of the machine, keeps their number within the limits and passes each to
 * the process that has the fewest. While no process is ready, connections wait; the port stays
 * open as long as the machine serves.
 */
export class Listener {
  readonly #server: Server;
  readonly #counts: ConnectionCounts;
  readonly #onRefused: () => void;
  readonly #receivers = new Map<Receiver, Map<string, number>>();
  /** Addresses with too many connections; "" stands for all together. */
  readonly #full = new Set<string>();
  /** Processes that get no more connections. */
  readonly #retired = new Set<Receiver>();
  #waiting: Socket[] = [];
  #url = "";

  /** `onRefused` is called for each connection that is refused because there are too many. */
  constructor(limits: ConnectionLimits, onRefused: () => void = () => {}) {
    this.#counts = new ConnectionCounts(limits);
    this.#onRefused = onRefused;
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      // The client may go away while its connection waits. That is not an error of the gateway.
      socket.on("error", () => {});
      void this.#accept(socket);
    });
  }

  /** Address of the server; "" before `open`. */
  get url(): string {
    return this.#url;
  }

  async open(server: Pick<Config["server"], "host" | "port">): Promise<void> {
    this.#url = await listen(this.#server, server);
  }

  /** Lets a process get connections. */
  add(receiver: Receiver): void {
    this.#receivers.set(receiver, new Map());
    for (const address of this.#full) receiver.setFull(address, true);
    for (const socket of this.#waiting.splice(0))
      this.#pass(socket, clientAddress(socket.remoteAddress));
  }

  /** Passes no more connections to a process. Those that it has still count. */
  retire(receiver: Receiver): void {
    this.#retired.add(receiver);
  }

  /** Forgets a process that has ended, with its connections. */
  remove(receiver: Receiver): void {
    const addresses = this.#receivers.get(receiver) ?? new Map<string, number>();
    this.#receivers.delete(receiver);
    this.#retired.delete(receiver);
    for (const [address, count] of addresses) {
      for (let i = 0; i < count; i++) this.#count(address, -1);
    }
  }

  /** Counts a connection that a process has closed. */
  closed(receiver: Receiver, address: string): void {
    const own = this.#receivers.get(receiver);
    const count = own?.get(address);
    if (!own || !count) return;
    if (count > 1) own.set(address, count - 1);
    else own.delete(address);
    this.#count(address, -1);
  }

  /** Accepts no more connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  async #accept(socket: Socket): Promise<void> {
    const address = clientAddress(socket.remoteAddress);
    const { ofAddress, ofAll } = this.#counts.needsRoom(address);
    if (ofAddress || ofAll) {
      // Counted at once, so that connections at the same time do not get the same room.
      this.#count(address, 1);
      if (this.#counts.isOver(address)) await this.#makeRoom(address);
      if (this.#counts.isOverTotal) await this.#makeRoom();
      this.#count(address, -1);
    }
    if (this.#counts.refuses(address) || this.#waiting.length >= MOST_WAITING) {
      this.#onRefused();
      return void socket.destroy();
    }
    this.#pass(socket, address);
  }

  #pass(socket: Socket, address: string): void {
    const [receiver, own] = this.#emptiest() ?? [];
    if (!receiver || !own) return void this.#waiting.push(socket);
    own.set(address, (own.get(address) ?? 0) + 1);
    this.#count(address, 1);
    receiver.pass(socket, address);
  }

  /** The process with the fewest connections. Among equals, the one that got a connection least recently. */
  #emptiest(): readonly [Receiver, Map<string, number>] | undefined {
    let best: readonly [Receiver, Map<string, number>] | undefined;
    let fewest = Infinity;
    for (const [receiver, own] of this.#receivers) {
      const count = own.values().reduce((sum, one) => sum + one, 0);
      if (count >= fewest || this.#retired.has(receiver)) continue;
      best = [receiver, own];
      fewest = count;
    }
    if (best) {
      this.#receivers.delete(best[0]);
      this.#receivers.set(...best);
    }
    return best;
  }

  async #makeRoom(address?: string): Promise<void> {
    for (const receiver of [...this.#receivers.keys()]) {
      if (await receiver.makeRoom(address).catch(() => false)) return;
    }
  }

  #count(address: string, by: 1 | -1): void {
    if (by > 0) this.#counts.add(address);
    else this.#counts.remove(address);
    this.#note(address, this.#counts.isOver(address));
    this.#note("", this.#counts.isOverTotal);
  }

  #note(address: string, isFull: boolean): void {
    if (this.#full.has(address) === isFull) return;
    if (isFull) this.#full.add(address);
    else this.#full.delete(address);
    for (const receiver of this.#receivers.keys()) receiver.setFull(address, isFull);
  }
}

/** Connections that wait while no process is ready. */
const MOST_WAITING = 1024;
