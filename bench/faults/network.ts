import { once } from "node:events";
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from "node:net";

/** How a network fails: connections are reset and refused, or bytes do not arrive any more. */
type Cut = "reset" | "silent";

/** The network between a node and its database, which can be cut. */
export class Network {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut: Cut | undefined;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      if (this.#cut === "reset") return void client.resetAndDestroy();
      const upstream = createConnection(port, "127.0.0.1");
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from);
        from.on("data", (bytes) => {
          if (!this.#cut) to.write(bytes);
        });
        from.on("error", () => {});
        from.on("close", () => {
          this.#sockets.delete(from);
          to.destroy();
        });
      }
    });
  }

  /** Starts to pass connections on to a port of this machine. */
  static async start(port: number): Promise<Network> {
    const network = new Network(port);
    await once(network.#server.listen(0, "127.0.0.1"), "listening");
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(how: Cut): void {
    this.#cut = how;
    if (how === "reset") this.#resetAll();
  }

  /** Bytes that were dropped are gone, so connections of a silent network are reset. */
  restore(): void {
    this.#cut = undefined;
    this.#resetAll();
  }

  #resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.#resetAll();
    await once(this.#server.close(), "close");
  }
}
