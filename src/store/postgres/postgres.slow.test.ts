import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { restoresEverything } from "../backup/backup.case.ts";
import { backUpPostgres, restorePostgres } from "../backup/postgres-backup.ts";
import { restoreSqlite } from "../backup/sqlite-backup.ts";
import { convertsLegacy } from "../cases/legacy.case.ts";
import { DAY_MS } from "../decision-id.ts";
import { routed, T0, vote } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { conforms } from "../store.case.ts";
import { StoreUnavailable } from "../store-error.ts";
import { DAYS_LOCK } from "./connect.ts";
import { writeOldDatabase } from "./legacy.fixture.ts";
import { openPostgres } from "./open.ts";
import { startPostgres } from "./server.fixture.ts";

const server = await startPostgres();

if (typeof server === "string") {
  // Skipped only where PostgreSQL cannot be started; the name of the test says why.
  it.skip(`PostgreSQL (${server})`, () => {});
} else {
  afterAll(() => server.stop());

  conforms("PostgreSQL", async () => {
    const url = await server.newDatabase();
    return () => openPostgres(url);
  });

  it("converts a database of version 0.1 in the background and continues after an interruption", async () => {
    const url = await server.newDatabase();
    await writeOldDatabase(url, 2500);
    await convertsLegacy(() => openPostgres(url), 2500);
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query("SELECT to_regclass('legacy_log') AS found");
    expect(rows[0].found).toBeNull();
    await client.end();
  }, 60_000);

  it("lists its days whatever plan the database chooses", async () => {
    const url = new URL(await server.newDatabase());
    // With many partitions, the database scans the names of all tables and indexes.
    url.searchParams.set("options", "-c enable_nestloop=off");
    const store = await openPostgres(url.href);
    onTestFinished(() => store.close());
    await store.record([routed(1)]);
    expect(await store.decision("d1")).toBeDefined();
  });

  it("accepts votes while it moves the decisions of version 0.1", async () => {
    const url = await server.newDatabase();
    const decisions = 8000;
    await writeOldDatabase(url, decisions);
    const store = await openPostgres(url);
    onTestFinished(() => store.close());
    let isDone = false;
    const migrated = store.migrated().then(() => {
      isDone = true;
    });
    let votes = 0;
    // The first vote is cast while fifteen of sixteen steps are left.
    do {
      const receipts = await store.append([vote(decisions + ++votes)]);
      expect(receipts).toMatchObject([{ status: "logged" }]);
    } while (!isDone);
    await migrated;
    expect(votes).toBeGreaterThan(1);
    let count = 0;
    for (let after: { at: number; id: string } | undefined; ; ) {
      const page = await store.routed({ router: "auto", after, limit: 1000 });
      if (page.length === 0) break;
      count += page.length;
      after = page.at(-1)!;
    }
    expect(count).toBe(decisions);
    expect((await store.decision("d0"))!.answers).toHaveLength(1);
  }, 120_000);

  it("is backed up while it is in use, and restored into SQLite and PostgreSQL", async () => {
    const newFolder = () => mkdtempSync(join(tmpdir(), "joust-backup-"));
    for (const target of ["sqlite", "postgres"]) {
      const folder = newFolder();
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const url = await server.newDatabase();
      const source = await openPostgres(url);
      onTestFinished(() => source.close());
      const restore = async (backup: string) => {
        const file = join(folder, "restored", "joust.db");
        const other = await server.newDatabase();
        if (target === "sqlite") await restoreSqlite(backup, file);
        else await restorePostgres(backup, other);
        const store =
          target === "sqlite" ? new SqliteStore(file, Date.now) : await openPostgres(other);
        onTestFinished(() => store.close());
        if (target === "postgres") {
          await expect(restorePostgres(backup, other)).rejects.toThrow(errorText(/is not empty/));
        }
        return store;
      };
      const backUp = (backup: string) => backUpPostgres(url, backup);
      await restoresEverything({ source, backUp, restore }, folder);
    }
  }, 60_000);

  it("creates a day that two nodes have dropped, if both write to it at the same time", async () => {
    const url = await server.newDatabase();
    const [a, b] = [await openPostgres(url), await openPostgres(url)];
    const other = new pg.Client(url);
    await other.connect();
    onTestFinished(async () => {
      for (const store of [a, b]) await store.close();
      await other.end();
    });
    const waiting = async () => {
      const { rows } = await other.query<{ count: number }>(
        "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'",
      );
      return rows[0]!.count;
    };
    /** Starts calls one after the other, so that each waits for the lock of days behind the one before. */
    const inTurn = async (...calls: (() => Promise<unknown>)[]) => {
      await other.query(`BEGIN; ${DAYS_LOCK}`);
      const running: Promise<unknown>[] = [];
      for (const call of calls) {
        running.push(call());
        await eventually(waiting).toBe(running.length);
      }
      await other.query("COMMIT");
      await Promise.all(running);
    };
    await a.record([routed(1)]);
    const ended = { decisions: T0 + DAY_MS };
    await inTurn(
      () => a.prune(ended),
      () => b.prune(ended),
    );
    await inTurn(
      () => a.record([routed(2)]),
      () => b.record([routed(3)]),
    );
    for (const id of ["d2", "d3"]) expect(await a.decision(id)).toBeDefined();
  });

  it("is unavailable while the database refuses connections", async () => {
    const url = new URL(await server.newDatabase());
    const admin = new pg.Client(url.href);
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'app'");
    [url.username, url.password] = ["app", "app"];
    const store = await openPostgres(url.href);
    onTestFinished(() => store.close());
    await admin.query(`ALTER ROLE app PASSWORD 'changed';
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`);
    await eventually(() => store.append([]).catch((error: unknown) => error)).toMatchObject({
      message: expect.stringContaining("password"),
    });
    await expect(store.append([vote(1)])).rejects.toBeInstanceOf(StoreUnavailable);
    await admin.query("ALTER ROLE app PASSWORD 'app'");
    expect(await store.append([vote(1)])).toMatchObject([{ status: "logged" }]);
  }, 60_000);

  describe("openPostgres", () => {
    it("says what is wrong with the address", async () => {
      const url = new URL(await server.newDatabase());
      const wrong = (change: (url: URL) => void) => {
        const other = new URL(url);
        change(other);
        return openPostgres(other.href);
      };
      await expect(wrong((u) => (u.pathname = "/none"))).rejects.toThrow(
        errorText(/hint: create the database/),
      );
      await expect(wrong((u) => (u.password = "no"))).rejects.toThrow(
        errorText(/hint: check the user and password/),
      );
      await expect(wrong((u) => (u.port = "1"))).rejects.toThrow(
        errorText(
          /^127\.0\.0\.1:1\/test\d+: cannot be reached: .*ECONNREFUSED.*; hint: start the database/,
        ),
      );
    });

    it("says that the database stopped answering during the start", async () => {
      const url = new URL(await server.newDatabase());
      let connections = 0;
      const proxy = createServer((client) => {
        client.on("error", () => {});
        // The first connection is passed on. The second one, which migrates, gets no answer.
        if (++connections > 1) return;
        const upstream = createConnection(Number(url.port), url.hostname);
        upstream.on("error", () => {});
        client.pipe(upstream).pipe(client);
      });
      await once(proxy.listen(0, "127.0.0.1"), "listening");
      onTestFinished(() => void proxy.close());
      const slow = new URL(url);
      slow.port = String((proxy.address() as AddressInfo).port);
      await expect(openPostgres(slow.href)).rejects.toThrow(
        errorText(/cannot be reached: timeout expired; hint: start the database/),
      );
    }, 60_000);
  });
}
