import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { configured, routed, T0, vote } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { conforms } from "../store.case.ts";
import type { Change } from "../store.ts";
import { LeaseLost, StoreUnavailable } from "../store-error.ts";
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
    expect(await store.append([configured(), routed(1), vote(1)])).toHaveLength(3);
    const [first] = await store.learning("auto", 0, 1);
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
      message: expect.stringMatching(/is not a SQLite database, or it is damaged$/),
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
  await store.append([routed(1), vote(1)]);
  store.limitPages(70);
  const many = Array.from({ length: 500 }, (_, n) => routed(n + 10));
  const failed = store.append([...many, vote(10)]);
  await expect(failed).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(failed).rejects.toMatchObject({
    message: expect.stringMatching(/full/),
    retryAfter: 1,
  });
  expect(await store.decision("d10")).toBeUndefined();
  expect(await store.learning("auto", 0, 10)).toHaveLength(1);
  store.limitPages(1e6);
  expect((await store.append([...many, vote(10)])).at(-1)).toMatchObject({ status: "logged" });
});

it("reads through indexes only, so that queries stay fast as the log grows", async () => {
  const file = newFile();
  const store = new SqliteStore(file, Date.now);
  await store.append([configured(), routed(1), vote(1)]);
  await store.close();
  const db = new Sqlite(file);
  const plans = QUERIES.map((query) => {
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as { detail: string }[];
    return steps.map(({ detail }) => detail).join("; ");
  });
  for (const [i, plan] of plans.entries())
    expect([QUERIES[i], plan]).toEqual([QUERIES[i], INDEXED]);
  db.close();
});

/** Queries with the conditions of queries.ts and append.ts. */
const LEARNING = "kind not in ('routed', 'answered')";
const QUERIES = [
  `SELECT * FROM log WHERE ${LEARNING} AND router = 'auto' AND position > 5 ORDER BY position LIMIT 10`,
  `SELECT position FROM log WHERE ${LEARNING} AND router = 'auto' ORDER BY position DESC LIMIT 1`,
  `SELECT position, at FROM log WHERE ${LEARNING} AND router = 'auto' AND at <= 5 ORDER BY at DESC, position DESC LIMIT 1`,
  "SELECT * FROM log WHERE kind not in ('routed', 'answered', 'voted') AND router = 'auto' ORDER BY position",
  "SELECT * FROM log WHERE kind = 'routed' AND router = 'auto' AND position < 5 ORDER BY position DESC LIMIT 10",
  "SELECT * FROM log WHERE kind = 'routed' AND decision = 'd1'",
  "SELECT * FROM log WHERE kind = 'answered' AND decision = 'd1'",
  "SELECT * FROM log WHERE kind = 'voted' AND decision = 'd1'",
  "SELECT * FROM log WHERE kind = 'routed' AND session = 's' ORDER BY position DESC LIMIT 1",
  "SELECT * FROM tallies WHERE router = 'auto' AND bucket >= 1 AND bucket < 2",
];
const INDEXED = expect.stringMatching(
  /^SEARCH (log|tallies) USING (COVERING )?(INDEX|PRIMARY KEY)[^;]*$/,
);
