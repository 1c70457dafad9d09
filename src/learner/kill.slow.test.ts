import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Random } from "../core/random/random.ts";
import { eventually } from "../store/eventually.fixture.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { expectNothingLost, NodeProcess } from "./process.fixture.ts";

const newFile = newFiles();
const KILLS = 20;

it("a node on SQLite that is killed 20 times loses no vote and counts none twice", async () => {
  const file = newFile();
  const random = Random.seeded(1);
  const nodes: NodeProcess[] = [];
  for (let i = 0; i <= KILLS; i++) {
    const node = new NodeProcess(`life${i}`, `sqlite:${file}`, 10_000);
    nodes.push(node);
    await node.ready();
    if (i === KILLS) await eventually(() => node.acknowledged.length).toBeGreaterThan(10);
    else await sleep(20 + random.integer(300));
    await node.end(i === KILLS ? "SIGTERM" : "SIGKILL");
  }
  const store = new SqliteStore(file, Date.now);
  await expectNothingLost(store, nodes);
  expect(nodes.at(-1)!.served!.version).toBe(await store.head("auto"));
  await store.close();
});
