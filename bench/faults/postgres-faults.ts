import { setTimeout as sleep } from "node:timers/promises";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { compare, type Findings } from "./check.ts";
import { Cluster } from "./cluster.ts";
import type { Journal } from "./journal.ts";
import { Voters } from "./voters.ts";

const CLIENTS = 6;
/** Without pauses, the load of two nodes delays the start of the third one for most of the run. */
const PAUSE_MS = 100;

type Fault = (cluster: Cluster, n: number, voters: Voters) => Promise<void>;

/** Each fault ends when the cluster has recovered from it. */
const FAULTS: Readonly<Record<string, Fault>> = {
  "learner killed": async (cluster, _, voters) => {
    const killed = await cluster.learner();
    await killed.end("SIGKILL");
    await cluster.expireLease();
    const started = killed.start();
    await cluster.learner(killed);
    await started;
    await voters.served([killed], 1);
  },
  "learner paused": async (cluster, _, voters) => {
    const paused = await cluster.learner();
    paused.signal("SIGSTOP");
    await cluster.expireLease();
    await cluster.learner(paused);
    await voters.served(
      cluster.nodes.filter((node) => node !== paused),
      1,
    );
    paused.signal("SIGCONT");
    await voters.served([paused], 2);
  },
  "database restarted": async (cluster, n, voters) => {
    // Restarts and crashes of PostgreSQL alternate.
    await (n % 2 ? cluster.server.restart() : cluster.server.crash());
    await voters.served(cluster.nodes, 1);
  },
  "network cut": async (cluster, n, voters) => {
    const node = cluster.nodes[n % cluster.nodes.length]!;
    node.network.cut(n % 2 ? "reset" : "silent");
    await sleep(500 * Math.random());
    node.network.restore();
    await voters.served([node], 1);
  },
};

export const POSTGRES_FAULTS = Object.keys(FAULTS);

/** Causes every fault `count` times on three nodes under load. The faults alternate. */
export async function failOnPostgres(
  folder: string,
  journal: Journal,
  { count, isStopped }: { readonly count: number; readonly isStopped: () => boolean },
): Promise<Findings> {
  const cluster = await Cluster.start(folder);
  const voters = new Voters(journal, cluster.nodes, PAUSE_MS);
  const done = () => Math.min(...POSTGRES_FAULTS.map((name) => journal.faults(name).length));
  try {
    voters.start(CLIENTS, `run ${Date.now()}`);
    await voters.served(cluster.nodes, 1);
    for (let n = done(); n < count && !isStopped(); n = done()) {
      for (const [name, fault] of Object.entries(FAULTS)) {
        if (journal.faults(name).length > n) continue;
        const startedAt = performance.now();
        await fault(cluster, n, voters);
        journal.fault(name, performance.now() - startedAt);
      }
      process.stderr.write(`${n + 1} of each fault, ${journal.acknowledgedIds.size} votes\n`);
    }
    await voters.stop();
    await voters.voteOpen();
  } catch (error) {
    for (const { name, output } of cluster.nodes) {
      process.stderr.write(`${name} printed last:\n${output.slice(-3000)}\n`);
    }
    throw error;
  } finally {
    for (const node of cluster.nodes) node.signal("SIGCONT");
    await cluster.stop();
  }
  const store = await openPostgres(cluster.url);
  try {
    return await compare(store, journal, ["--database", cluster.url]);
  } finally {
    await store.close();
    await cluster.server.stop();
  }
}
