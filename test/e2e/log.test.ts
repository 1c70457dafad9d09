import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Replay } from "../../src/learner/replay.ts";
import { routedIn, votedIn, World } from "../../src/learner/world.fixture.ts";
import { configured, T0 } from "../../src/store/events.fixture.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { joust, newFolder, ROOT } from "./joust.fixture.ts";

/** The data folder of a router that served 100 requests. */
async function servedFolder(): Promise<string> {
  const data = newFolder();
  const store = new SqliteStore(join(data, "joust.db"), Date.now);
  const world = new World(1, 4);
  const { pool } = world;
  await store.append([configured({ pool, encoder: "world", weighVoters: false })]);
  for (const served of world.serve(100, 0.2, 1)) {
    const at = T0 + served.t * 1000;
    const decision = routedIn(world, served, at);
    await store.record([decision]);
    if (served.outcome) {
      const vote = votedIn(decision, { outcome: served.outcome }, at);
      await store.append([{ ...vote, voter: `v${served.t % 5}` }]);
    }
  }
  await store.close();
  return data;
}

describe("joust replay and joust votes", () => {
  it("replay, undo and forget votes, with the same result for the same log", async () => {
    const data = await servedFolder();
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await joust(...args, "--data", data);
      expect([code, stderr]).toEqual([0, ""]);
      return stdout;
    };
    const folded = async (...args: string[]) =>
      JSON.parse(await run("replay", "--json", ...args)) as Replay;

    const first = await folded();
    expect(await folded()).toEqual(first);
    expect(first.votes.votes).toBeGreaterThan(20);
    const screen = await run("replay", "--policy", "greedy");
    expect(screen).toMatch(/posterior [0-9a-f]{64}/);
    expect(screen).toMatch(
      /Category c0[\s\S]*Value of policies, estimated from 100 decisions[\s\S]*joust[\s\S]*greedy/,
    );

    const until = new Date(T0 + 50_000).toISOString();
    const then = await folded("--until", until);
    expect(await run("votes", "roll-back", "--to", until)).toMatch(
      /auto is rolled back: \d+ votes/,
    );
    const back = await folded();
    expect(back.hash).toBe(then.hash);
    expect(back.votes.void).toBe(first.votes.votes - then.votes.votes);
    expect(await run("votes", "weigh", "v1", "0")).toMatch(/v1 has the weight 0 instead of 1/);
    const without = await folded();
    expect(without.votes.votes).toBeLessThan(back.votes.votes);
    await run("votes", "weigh", "v1", "1");
    expect(await run("votes", "weigh", "v1", "1")).toMatch(/v1 already has the weight 1/);
    expect((await folded()).hash).toBe(back.hash);
    const heavy = await joust("votes", "weigh", "v1", "2", "--data", data);
    expect([heavy.code, heavy.stderr]).toEqual([
      2,
      expect.stringMatching(/weight.*\nhint: .*0\.5/),
    ]);
    expect(await run("votes", "forget", "v1")).toMatch(/v1 is forgotten/);
    expect((await folded()).hash).toBe(without.hash);

    await run("votes", "freeze");
    expect((await folded()).frozen).toBe(true);
    await run("votes", "thaw", "--drop");

    const out = join(data, "votes.jsonl");
    await run("votes", "export", "--out", out);
    const lines = readFileSync(out, "utf8").trim().split("\n");
    expect(lines).toHaveLength((await folded()).votes.votes);
    expect(lines.every((line) => !line.includes('"v1"'))).toBe(true);
    expect((await run("votes", "export")).trim().split("\n")).toEqual(lines);
    const nowhere = await joust("votes", "export", "--data", data, "--out", join(data, "no/x"));
    expect([nowhere.code, nowhere.stdout]).toEqual([2, ""]);
    expect(nowhere.stderr).toMatch(/^joust: .*no\/x: cannot be written.*\nhint: /);
  });

  it("import a file of votes once, into a new log", async () => {
    const folder = newFolder();
    const data = join(folder, "new");
    mkdirSync(data);
    const votes = join(ROOT, "test", "e2e", "votes.fixture.jsonl");
    const first = await joust("votes", "import", votes, "--data", data);
    expect(first).toMatchObject({ code: 0, stdout: "imported 3 votes for the router auto\n" });
    const again = await joust("votes", "import", votes, "--data", data);
    expect(again.stdout).toBe("imported 0 votes for the router auto; 3 were in the log already\n");
    const replayed = await joust("replay", "--data", data);
    expect(replayed).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /has no configuration in this part of the log.*\nhint: start joust/,
      ),
    });
  });

  it("back up, verify and restore a data folder, and refuse a damaged one", async () => {
    const data = await servedFolder();
    const folder = newFolder();
    const backup = join(folder, "backup");
    const restored = join(folder, "restored");
    const done = await joust("backup", backup, "--data", data);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(/^copied 2 files to .*, with the votes up to position \d+\n$/);
    expect((await joust("restore", backup, "--data", restored)).code).toBe(0);
    const hashOf = async (place: string) =>
      (JSON.parse((await joust("replay", "--json", "--data", place)).stdout) as Replay).hash;
    expect(await hashOf(restored)).toBe(await hashOf(data));
    for (const place of [data, backup, restored]) {
      expect(await joust("verify", "--data", place)).toMatchObject({
        code: 0,
        stdout: "no problems found\n",
      });
    }
    expect((await joust("restore", backup, "--data", restored)).stderr).toMatch(/exists\nhint:/);

    const file = join(restored, "joust.db");
    writeFileSync(file, readFileSync(file).fill(0, 8192, 20_000));
    const found = await joust("verify", "--data", restored);
    expect([found.code, found.stderr]).toEqual([1, ""]);
    expect(found.stdout).toContain("joust.db: ");
    const served = await joust("serve", "--data", restored, "--port", "0");
    expect([served.code, served.stdout]).toEqual([2, ""]);
    expect(served.stderr).toMatch(/^joust: .*joust.db: is .*damaged.*\nhint: restore a backup/);
  });

  it.each([
    [["replay", "--data", "nowhere"], /nowhere\/joust.db: does not exist\nhint: give the data/],
    [["replay", "--database", "mysql:x"], /--database: is not a PostgreSQL address\nhint:/],
    [["replay", "--data", "x", "--database", "y"], /--database: is given with --data\nhint:/],
    [["votes", "import", "none.jsonl", "--data", "DATA"], /none.jsonl: does not exist\nhint:/],
    [["votes", "roll-back"], /--to: is missing\nhint: give either --to TIME or --position N/],
  ])("%j: exits with 2 and names problem and hint", async (args, message) => {
    const data = newFolder();
    const { code, stdout, stderr } = await joust(
      ...args.map((arg) => (arg === "DATA" ? data : arg)),
    );
    expect(stderr).toMatch(message);
    expect([code, stdout]).toEqual([2, ""]);
  });
});
