import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { type GatewayProcess, startGateway } from "../gateway-process.ts";
import { compare, type Findings } from "./check.ts";
import type { Journal } from "./journal.ts";
import { Voters } from "./voters.ts";

const CLIENTS = 3;
/** Number of kills after which the node runs long enough for the learner to save a snapshot. */
const LONG_LIFE = 20;
/** Longer than the time between two snapshots of a single node. */
const LONG_MS = 2300;

/** Kills a node on SQLite with SIGKILL at random moments under load, always with the same log. */
export async function killOnSqlite(
  folder: string,
  journal: Journal,
  { count, isStopped }: { readonly count: number; readonly isStopped: () => boolean },
): Promise<Findings> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "joust.yaml"), "sandbox: {speed: 1000}\n");
  let node: GatewayProcess | undefined;
  const target = {
    name: "node",
    get url() {
      return node?.url;
    },
  };
  const voters = new Voters(journal, [target]);
  await keepCompiledCode(folder);
  for (let life = journal.faults("kill").length + 1; life <= count && !isStopped(); life++) {
    const startedAt = performance.now();
    node = await startGateway(folder);
    await voters.voteOpen();
    voters.start(CLIENTS, `life ${life}`);
    await voters.served([target], 1);
    await sleep(life % LONG_LIFE === 0 ? LONG_MS : 250 * Math.random());
    await node.end("SIGKILL");
    await voters.stop();
    journal.fault("kill", performance.now() - startedAt);
    if (life % 10 === 0) {
      process.stderr.write(`${life} kills, ${journal.acknowledgedIds.size} votes\n`);
    }
  }
  // The last start lets the learner read the whole log and save its posterior.
  node = await startGateway(folder);
  await voters.voteOpen();
  await node.end("SIGTERM");
  const store = await openSqlite(join(folder, "joust.db"));
  try {
    return await compare(store, journal, ["--data", folder]);
  } finally {
    await store.close();
  }
}

/** A node saves its compiled code when it exits, so nodes that are killed would compile it each time. */
async function keepCompiledCode(folder: string): Promise<void> {
  const node = await startGateway(folder);
  await node.end("SIGTERM");
}
