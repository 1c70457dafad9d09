import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, expect, it, vi } from "vitest";
import { chat, newFolder, SANDBOX, startGateway } from "../../gateway/gateway.fixture.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { votesCommand } from "./votes.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A data folder in which ann has voted twice and somebody without a name once, and a function that runs `joust votes`. */
async function votedFolder() {
  const data = newFolder();
  const { post, close } = await startGateway(SANDBOX, { folder: data });
  for (const voter of ["ann", "ann", undefined]) {
    const { json } = await post("/v1/chat/completions", chat("Why?"));
    const vote = await post("/v1/feedback", { id: json.id, rating: 1, voter });
    expect(vote.status).toBe(200);
  }
  await close();
  const run = async (...args: string[]): Promise<string> => {
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    written.mockClear();
    await votesCommand().parseAsync([...args, "--data", data], { from: "user" });
    return written.mock.calls.map(([text]) => text).join("");
  };
  return { data, run };
}

it("lists all voters, also excluded ones and those without a name", async () => {
  const { run } = await votedFolder();
  expect(await run("weigh", "ann", "0")).toBe("ann has the weight 0 instead of 1\n");
  expect(await run("weigh", "", "0.5")).toBe(
    "votes without a name have the weight 0.5 instead of 1\n",
  );
  expect(await run("weigh", "", "0.5")).toBe("votes without a name already have the weight 0.5\n");
  expect(await run("voters")).toMatch(
    /^votes without a name: 1 vote; last vote \S+Z; weight 0\.5\nann: 2 votes; last vote \S+Z; weight 0 \(excluded\)\n$/,
  );
  expect(JSON.parse(await run("voters", "--json"))).toEqual([
    { voter: "", votes: 1, last_vote_at: expect.any(String), weight: 0.5 },
    { voter: "ann", votes: 2, last_vote_at: expect.any(String), weight: 0 },
  ]);
  await expect(run("roll-back", "--position", "1.5")).rejects.toMatchObject({
    problem: "is 1.5, not a whole number",
  });
  await expect(run("weigh", "bob", "0")).rejects.toMatchObject({
    hint: expect.stringContaining("joust votes voters"),
  });
});

it("writes each change to the history, without the name of a voter", async () => {
  const { data, run } = await votedFolder();
  await run("weigh", "ann", "0.5");
  await run("weigh", "ann", "0.5");
  await run("forget", "ann");
  await run("freeze");
  await run("thaw", "--drop");
  await run("roll-back", "--position", "1");
  const store = await openSqlite(join(data, "joust.db"));
  const records = (await store.audit({ limit: 10 })).toReversed();
  await store.close();
  expect(records).toMatchObject([
    { action: "router.weigh", before: { weight: 1 }, after: { weight: 0.5 } },
    { action: "router.forget", after: { forgotten: 2 } },
    { action: "router.freeze" },
    { action: "router.thaw", after: { learn: false } },
    { action: "router.rollback", after: { position: 1, undone: 1 } },
  ]);
  for (const { actor, target } of records)
    expect([actor, target]).toEqual(["command line", "auto"]);
  expect(JSON.stringify(records)).not.toContain("ann");
});

it("records an erasure that a backup delays, and completes it when it is run again", async () => {
  const { data, run } = await votedFolder();
  const file = join(data, "joust.db");
  const isInFiles = () => [file, `${file}-wal`].some((part) => contains(part, "voter:ann"));
  const backup = new Sqlite(file, { readonly: true });
  backup.exec("BEGIN; SELECT * FROM log;");
  await expect(run("forget", "ann")).rejects.toThrow(/forget the voter again later/);
  expect(isInFiles()).toBe(true);
  const store = await openSqlite(file);
  expect(await store.audit({ limit: 10 })).toMatchObject([
    { action: "router.forget", after: { forgotten: 2 } },
  ]);
  await store.close();
  await expect(run("forget", "ann")).rejects.toThrow(/forget the voter again later/);
  backup.close();
  await expect(run("forget", "ann")).rejects.toThrow('has no vote of "ann"');
  expect(isInFiles()).toBe(false);
});

function contains(file: string, text: string): boolean {
  return existsSync(file) && readFileSync(file).includes(text);
}
