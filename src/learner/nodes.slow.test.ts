import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { openPostgres } from "../store/postgres/open.ts";
import { startPostgres } from "../store/postgres/server.fixture.ts";
import { expectNothingLost, NodeProcess } from "./process.fixture.ts";

const server = await startPostgres();

/** Long enough for a busy machine, short enough for a test to wait for. */
const LEASE_MS = 1500;

if (typeof server === "string") {
  // Skipped only where PostgreSQL cannot be started; the name of the test says why.
  it.skip(`three nodes on PostgreSQL (${server})`, () => {});
} else {
  afterAll(() => server.stop());

  it("three nodes lose no vote when the learner is paused, the database restarted and the learner killed", async () => {
    const url = await server.newDatabase();
    const store = await openPostgres(url);
    const nodes = new Map(
      ["a", "b", "c"].map((name) => [name, new NodeProcess(name, url, LEASE_MS)]),
    );
    const all = [...nodes.values()];
    const alive = new Set(all);
    const holder = async () => {
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query<{ holder: string }>(
        "SELECT holder FROM leases WHERE router = 'auto' AND until > extract(epoch FROM clock_timestamp()) * 1000",
      );
      await client.end();
      return rows[0]?.holder;
    };
    const another = (than: string | undefined) =>
      expect.poll(async () => (await holder()) ?? than).not.toBe(than);
    const current = async () => {
      let name: string | undefined;
      await expect
        .poll(async () => {
          name = await holder();
          return name;
        })
        .toBeDefined();
      return name!;
    };
    const moreVotes = async () => {
      const before = new Map(all.map((node) => [node, node.acknowledged.length]));
      for (const node of alive) {
        await expect.poll(() => node.acknowledged.length).toBeGreaterThan(before.get(node)! + 5);
      }
    };

    await moreVotes();
    const paused = await current();
    nodes.get(paused)!.signal("SIGSTOP");
    await another(paused);
    nodes.get(paused)!.signal("SIGCONT");
    await moreVotes();

    await server.restart();
    await moreVotes();

    const killed = await current();
    alive.delete(nodes.get(killed)!);
    await nodes.get(killed)!.end("SIGKILL");
    await another(killed);
    await moreVotes();

    for (const node of alive) await node.end("SIGTERM");
    await expectNothingLost(store, all);
    expect([...alive].every(({ served }) => served !== undefined)).toBe(true);
    await store.close();
  });
}
