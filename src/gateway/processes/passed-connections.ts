import type { Socket } from "node:net";
import type { Intake } from "../server/connections.ts";

/** The connections that the supervising process passes to this one. */
export class PassedConnections implements Intake {
  readonly #onClosed: (address: string) => void;
  /** Addresses with too many connections; "" stands for all together. */
  readonly #full = new Set<string>();
  #take: (socket: Socket) => void = (socket) => socket.destroy();
  #makeRoom: (address?: string) => boolean = () => false;
  /** Functions to call when a connection has closed. */
  readonly #makingRoom: (() => void)[] = [];
  #url = "";

  /** `onClosed` is called with the address of each connection that has closed. */
  constructor(onClosed: (address: string) => void) {
    this.#onClosed = onClosed;
  }

  get url(): string {
    return this.#url;
  }

  setUrl(url: string): void {
    this.#url = url;
  }

  setFull(address: string, isFull: boolean): void {
    if (isFull) this.#full.add(address);
    else this.#full.delete(address);
  }

  /** Hands a connection of an address to the server. */
  take(socket: Socket, address: string): void {
    socket.once("close", () => {
      this.#onClosed(address);
      for (const done of this.#makingRoom.splice(0)) done();
    });
    this.#take(socket);
  }

  /** Closes a connection that is idle, or whose request without a key is incomplete, of one address or of all. Returns false if there is none. */
  async makeRoom(address?: string): Promise<boolean> {
    if (!this.#makeRoom(address)) return false;
    await new Promise<void>((done) => this.#makingRoom.push(done));
    return true;
  }

  onConnection(take: (socket: Socket) => void): void {
    this.#take = take;
  }

  isFull(address: string): boolean {
    return this.#full.has("") || this.#full.has(address);
  }

  onMakeRoom(close: (address?: string) => boolean): void {
    this.#makeRoom = close;
  }
}
