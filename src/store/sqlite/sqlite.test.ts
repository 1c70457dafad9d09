import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { convertsLegacy } from "../cases/legacy.case.ts";
import { DAY_MS } from "../decision-id.ts";
import { answered, configured, routed, T0, vote, xOf } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { conforms } from "../store.case.ts";
import type { Change } from "../store.ts";
import { LeaseLost, StoreUnavailable } from "../store-error.ts";
import { ALL_MODELS } from "../tally.ts";
import { bytesOf } from "../vector.ts";
import { connect } from "./connect.ts";
import { DayFiles, fileOf, folderOf } from "./days.ts";
import { readHead } from "./head-file.ts";
import { writeOldFile } from "./legacy.fixture.ts";
import { openSqlite } from "./open.ts";
import { SqliteStore } from "./sqlite-store.ts";

const newFile = newFiles();

conforms("SQLite", async () => {
  const file = newFile();
  return async () => new SqliteStore(file, Date.now);
});

it.skipIf(process.platform === "win32")("only the owner can read a new file", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  await store.append([configured()]);
  for (const name of [file, `${file}-wal`]) expect(statSync(name).mode & 0o077).toBe(0);
  await store.close();
});

describe("openSqlite", () => {
  it("behaves like SqliteStore and throws the same errors", async () => {
    const store = await openSqlite(newFile());
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    expect(await store.append([configured(), vote(1)])).toHaveLength(2);
    const [first] = await store.logEvents("auto", 0, 1);
    expect(first).toMatchObject(configured());
    expect(changes).toMatchObject([{ router: "auto", what: "log" }]);
    const snapshot = { router: "auto", position: 1, at: T0, hash: "h", state: Uint8Array.of(1) };
    const lost = await store.saveSnapshot(snapshot, 9).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(LeaseLost);
    expect(lost).toMatchObject({
      router: "auto",
      message: expect.stringMatching(/taken over auto/),
    });
    await store.close();
    await expect(store.head("auto")).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it("says why a file cannot be opened", async () => {
    const file = newFile();
    writeFileSync(
      file,
      "no database, but a text that is long enough to be taken for one ".repeat(20),
    );
    const error = await openSqlite(file).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/is not a SQLite database, or it is damaged \(.+\)$/),
      hint: expect.any(String),
    });
    await expect(openSqlite(join(file, "below"))).rejects.toThrow(
      errorText(/cannot be opened.*hint:/),
    );
  });
});

it("refuses a database of a newer version and does not change it", async () => {
  const file = newFile();
  await new SqliteStore(file, Date.now).close();
  const db = new Sqlite(file);
  db.exec("INSERT INTO migrations VALUES (9999, 'later')");
  expect(() => new SqliteStore(file, Date.now)).toThrow(
    errorText(/newer version.*hint: upgrade joust/),
  );
  expect(db.prepare("SELECT max(number) FROM migrations").pluck().get()).toBe(9999);
  db.close();
});

it("a full disk throws StoreUnavailable, writes nothing of the append and keeps everything before it", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  onTestFinished(() => store.close());
  await store.append([vote(1)]);
  store.limitPages(70);
  const many = Array.from({ length: 1000 }, (_, n) => vote(n + 10));
  const failed = store.append(many);
  await expect(failed).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(failed).rejects.toMatchObject({
    message: expect.stringMatching(/full/),
    retryAfter: 1,
  });
  expect(await store.logEvents("auto", 0, 10)).toHaveLength(1);
  store.limitPages(1e6);
  expect((await store.append(many)).at(-1)).toMatchObject({ status: "logged" });
});

it("appends a vote as fast on a decision with many votes as on another one", async () => {
  const store = new SqliteStore(newFile(), Date.now, false);
  const hot = Array.from({ length: 5000 }, (_, n) =>
    vote(n, { outcome: "a" }, { decision: "hot", voter: `v${n}` }),
  );
  for (let i = 0; i < hot.length; i += 500) await store.append(hot.slice(i, i + 500));
  let n = 10_000;
  const leastTime = async (decision: string) => {
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const one = vote(n++, { outcome: "a" }, { decision, voter: `v${n}` });
      const before = process.cpuUsage();
      expect(await store.append([one])).toMatchObject([{ status: "logged" }]);
      const { user, system } = process.cpuUsage(before);
      times.push(user + system);
    }
    return Math.min(...times);
  };
  expect(await leastTime("hot")).toBeLessThan(5 * (await leastTime("other")) + 500);
  await store.close();
});

it("keeps the highest position of an append to several routers as acknowledged", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  await store.append([vote(1), vote(2, { outcome: "a" }, { router: "other" }), vote(3)]);
  expect(readHead(file)).toBe(3);
  await store.close();
});

it("frees a lease that was acquired before the clock was set back", async () => {
  let now = T0;
  const store = new SqliteStore(newFile(), () => now);
  onTestFinished(() => store.close());
  const acquire = (holder: string) => store.acquireLease("auto", holder, 10_000);
  expect(await acquire("a")).toBe(1);
  // A small correction of the clock frees nothing.
  now -= 1000;
  expect(await acquire("b")).toBeUndefined();
  now -= 3_600_000;
  expect(await acquire("b")).toBe(2);
});

it("reads through indexes only, so that queries stay fast as the log grows", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  await store.append([configured(), vote(1)]);
  await store.record([routed(1)]);
  await store.close();
  const day = fileOf(folderOf(file), T0 / DAY_MS);
  for (const [name, queries] of [
    [file, QUERIES],
    [day, DAY_QUERIES],
  ] as const) {
    const db = new Sqlite(name);
    for (const query of queries) {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as { detail: string }[];
      const plan = steps.map(({ detail }) => detail).join("; ");
      expect([query, plan]).toEqual([query, INDEXED]);
    }
    db.close();
  }
});

/** Queries with the conditions of queries.ts and log-writes.ts. */
const QUERIES = [
  "SELECT * FROM log WHERE router = 'auto' AND position > 5 ORDER BY position LIMIT 10",
  "SELECT position FROM log WHERE router = 'auto' ORDER BY position DESC LIMIT 1",
  "SELECT position FROM log WHERE router = 'auto' AND at <= 5 ORDER BY position DESC LIMIT 1",
  "SELECT * FROM log WHERE kind <> 'voted' AND router = 'auto' ORDER BY position",
  "SELECT 1 FROM log WHERE kind = 'voted' AND decision = 'd1' AND ballot NOT LIKE 'comment:%' LIMIT 3",
  "SELECT * FROM tallies WHERE router = 'auto' AND bucket >= 1 AND bucket < 2",
];
/** Queries with the conditions of decision-queries.ts. */
const DAY_QUERIES = [
  "SELECT * FROM decisions WHERE router = 'auto' AND at >= 0 AND (at, id) > (5, 'd') ORDER BY at, id LIMIT 9",
  "SELECT * FROM decisions WHERE at >= 0 AND router = 'auto' AND (at, id) < (5, 'd') ORDER BY at DESC, id DESC LIMIT 9",
  "SELECT * FROM decisions WHERE at >= 0 AND session = 's' ORDER BY at DESC, id DESC LIMIT 1",
  "SELECT * FROM decisions WHERE id = 'd1'",
  "SELECT * FROM answers WHERE decision IN ('d1', 'd2') ORDER BY decision, slot",
];
const INDEXED = expect.stringMatching(
  /^SEARCH (log|tallies|decisions|answers) USING (COVERING )?(INDEX|PRIMARY KEY)[^;]*$/,
);

it("converts a file of version 0.1 in the background, continues after an interruption and shrinks", async () => {
  const file = newFile();
  writeOldFile(file, 2500);
  const before = statSync(file).size;
  await convertsLegacy(async () => new SqliteStore(file, Date.now), 2500);
  expect(statSync(file).size).toBeLessThan(before / 3);
  const db = new Sqlite(file);
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  expect(tables).not.toContain("legacy_log");
  expect(db.pragma("auto_vacuum", { simple: true })).toBe(2);
  db.close();
});

it("leaves nothing of a forgotten voter in its files", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  onTestFinished(() => store.close());
  const name = "key_1234/erika mustermann";
  const votes = Array.from({ length: 200 }, (_, n) =>
    vote(n, { outcome: "a" }, { voter: n % 3 ? name : "bob" }),
  );
  await store.append([configured(), ...votes]);
  const token = (await store.acquireLease("auto", "me", 60_000))!;
  const state = Buffer.from(`${name} `.repeat(500));
  await store.saveSnapshot({ router: "auto", position: 50, at: T0, hash: "h", state }, token);
  const x = Buffer.from(bytesOf(xOf(1)));
  const found = (text: string | Buffer) =>
    [file, `${file}-wal`].some((part) => readFileSync(part).includes(text));
  expect([found(name), found(x)]).toEqual([true, true]);
  const size = statSync(file).size + statSync(`${file}-wal`).size;
  expect(await store.forget("auto", name, T0)).toBe(133);
  await store.scrub();
  expect([found(name), found(x), found("bob")]).toEqual([false, false, true]);
  expect(statSync(file).size + statSync(`${file}-wal`).size).toBeLessThan(size);
});

it("reports that another process keeps a forgotten voter in the files, and erases the name if the call is repeated", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  onTestFinished(() => store.close());
  const name = "key_1234/erika mustermann";
  await store.append([configured(), vote(1, { outcome: "a" }, { voter: name })]);
  const isInFiles = () => [file, `${file}-wal`].some((part) => readFileSync(part).includes(name));
  const backup = new Sqlite(file, { readonly: true });
  backup.exec("BEGIN; SELECT * FROM log;");
  expect(await store.forget("auto", name, T0)).toBe(1);
  await expect(store.scrub()).rejects.toThrow(errorText(/another process.* reads them.*hint:/));
  expect(isInFiles()).toBe(true);
  backup.close();
  await store.scrub();
  expect(isInFiles()).toBe(false);
});

it("returns the space of days that are dropped", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  for (const day of [0, 1, 2]) {
    const at = T0 + day * DAY_MS;
    await store.record(Array.from({ length: 50 }, (_, n) => routed(100 * day + n, { at })));
  }
  const names = () => readdirSync(folderOf(file)).filter((name) => name.endsWith(".db"));
  expect(names()).toEqual(["2026-01-01.db", "2026-01-02.db", "2026-01-03.db"]);
  await store.prune({ decisions: T0 + 2 * DAY_MS });
  expect(names()).toEqual(["2026-01-03.db"]);
  // Files are deleted in the background, at the latest when the store closes.
  await store.close();
  expect(readdirSync(folderOf(file)).filter((name) => name.startsWith("2026-01-01"))).toEqual([]);
  // A deletion that a kill interrupted is made up for at the next start.
  writeFileSync(join(folderOf(file), "2026-01-02.db.dropped"), "rest");
  await new SqliteStore(file, Date.now).close();
  expect(readdirSync(folderOf(file))).toEqual(["2026-01-03.db"]);
});

describe("counts of a dropped day", () => {
  const query = { router: "auto", from: T0, to: T0 + DAY_MS, step: DAY_MS };

  it("are kept once if two processes drop the day at the same time", async () => {
    const file = newFile();
    const store = new SqliteStore(file, Date.now);
    onTestFinished(() => store.close());
    await store.record([routed(1)]);
    const counts = await store.tallies(query);
    const [main, otherMain] = [connect(file), connect(file)];
    const other = new DayFiles(file, otherMain);
    const transaction = main.transaction.bind(main);
    // The other process drops the day just before this one gets the lock.
    main.transaction = ((work) => {
      void other.drop(T0 + DAY_MS);
      return transaction(work);
    }) as typeof main.transaction;
    await new DayFiles(file, main).drop(T0 + DAY_MS);
    await other.close();
    for (const db of [main, otherMain]) db.close();
    expect(await store.tallies(query)).toEqual(counts);
  });

  it.each(["before", "after"])(
    "are part of a sum if another process drops the day just %s the main file is read",
    async (moment) => {
      const file = newFile();
      const [a, b] = [new SqliteStore(file, Date.now), new SqliteStore(file, Date.now)];
      for (const store of [a, b]) onTestFinished(() => store.close());
      await a.record([routed(1), answered(1, 0, { owner: "k1", cost: 2 })]);
      const { select } = a;
      vi.spyOn(a, "select").mockImplementationOnce(async (statement) => {
        const drop = () => b.prune({ decisions: T0 + DAY_MS });
        if (moment === "before") await drop();
        const rows = await select<never>(statement);
        if (moment === "after") await drop();
        return rows;
      });
      expect(await a.spent("k1", "2026-01")).toBe(2);
    },
  );

  it("are kept once if a kill came after they were copied, and the day can be used again", async () => {
    for (const isFileGone of [false, true]) {
      const file = newFile();
      const before = new SqliteStore(file, Date.now);
      await before.record([routed(1)]);
      const counts = await before.tallies(query);
      await before.close();
      const day = fileOf(folderOf(file), T0 / DAY_MS);
      const bytes = readFileSync(day);
      const middle = new SqliteStore(file, Date.now);
      await middle.prune({ decisions: T0 + DAY_MS });
      await middle.close();
      if (!isFileGone) writeFileSync(day, bytes);
      const db = new Sqlite(file);
      db.prepare("INSERT INTO dropped_days VALUES (?)").run(T0 / DAY_MS);
      db.close();
      const after = new SqliteStore(file, Date.now);
      onTestFinished(() => after.close());
      expect(existsSync(day)).toBe(false);
      expect(await after.tallies(query)).toEqual(counts);
      await after.record([routed(2)]);
      const all = await after.tallies(query);
      expect(all.find(({ model }) => model === ALL_MODELS)!.counts.shown).toBe(2);
      expect(await after.prune({ decisions: T0 + DAY_MS })).toMatchObject({ decisions: 1 });
      expect(await after.tallies(query)).toEqual(all);
    }
  });
});

it("writes no decision into the file of a day that another process has dropped", async () => {
  const file = newFile();
  const [a, b] = [new SqliteStore(file, Date.now), new SqliteStore(file, Date.now)];
  for (const store of [a, b]) onTestFinished(() => store.close());
  await a.record([routed(1)]);
  await b.prune({ decisions: T0 + DAY_MS });
  await a.record([routed(2)]);
  expect(await b.decision("d2")).toBeDefined();
});

it("lets other calls run between the days that a search for an id opens", async () => {
  const file = newFile();
  const before = new SqliteStore(file, Date.now, false);
  for (const day of [0, 1, 2]) await before.record([routed(day, { at: T0 + day * DAY_MS })]);
  await before.close();
  const store = new SqliteStore(file, Date.now, false);
  onTestFinished(() => store.close());
  const calls: string[] = [];
  const search = store.decision("unknown").then(() => calls.push("search"));
  await setImmediate();
  await store.append([vote(1)]);
  calls.push("vote");
  await search;
  expect(calls).toEqual(["vote", "search"]);
});

it("lets other calls run between the days that are dropped", async () => {
  const store = new SqliteStore(newFile(), Date.now, false);
  onTestFinished(() => store.close());
  for (const day of [0, 1, 2]) await store.record([routed(day, { at: T0 + day * DAY_MS })]);
  const calls: string[] = [];
  const pruning = store.prune({ decisions: T0 + 3 * DAY_MS }).then(() => calls.push("prune"));
  await setImmediate();
  await store.append([vote(1)]);
  calls.push("vote");
  await pruning;
  expect(calls).toEqual(["vote", "prune"]);
});
