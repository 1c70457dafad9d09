import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { decisionsInPages } from "../src/learner/pages.ts";
import { T0, vote } from "../src/store/events.fixture.ts";
import { writeOldDatabase } from "../src/store/postgres/legacy.fixture.ts";
import { openPostgres } from "../src/store/postgres/open.ts";
import { startPostgres } from "../src/store/postgres/server.fixture.ts";
import { writeOldFile } from "../src/store/sqlite/legacy.fixture.ts";
import { openSqlite } from "../src/store/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

const DECISIONS = 1_000_000;
const MEGABYTE = 2 ** 20;

/**
 * Converts a store of version 0.1 with a million decisions (--rounds), their answers and 100,000
 * votes, on SQLite and on PostgreSQL, while votes are cast. All decisions must be there afterwards.
 */
export async function migration(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const decisions = flags.rounds ?? DECISIONS;
  const figures: Record<string, number> = { decisions };
  const isWanted = (name: string) => names.length === 0 || names.includes(name);
  if (isWanted("sqlite")) {
    const folder = await mkdtemp(join(tmpdir(), "joust-migration-"));
    const file = join(folder, "joust.db");
    writeOldFile(file, decisions);
    Object.assign(figures, await convert("SQLite", () => openSqlite(file), decisions));
    await rm(folder, { recursive: true });
  }
  if (isWanted("postgres")) {
    const server = await startPostgres();
    if (typeof server === "string") throw new Error(server);
    const url = await server.newDatabase();
    await writeOldDatabase(url, decisions);
    process.stderr.write("the old database is written\n");
    Object.assign(figures, await convert("PostgreSQL", () => openPostgres(url), decisions));
    await server.stop();
  }
  return { ratios: {}, figures };
}

async function convert(
  name: string,
  open: () => Promise<Store>,
  decisions: number,
): Promise<Record<string, number>> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const startedAt = performance.now();
  const store = await open();
  const opened = performance.now();
  let isDone = false;
  const migrated = store.migrated().then(() => {
    isDone = true;
  });
  const times: number[] = [];
  let most = before;
  while (!isDone) {
    const sentAt = performance.now();
    await store.append([vote(decisions + times.length)]);
    times.push(performance.now() - sentAt);
    most = Math.max(most, process.memoryUsage.rss());
    await sleep(20);
  }
  await migrated;
  const seconds = (performance.now() - startedAt) / 1000;
  times.sort((a, b) => a - b);
  // The old log has a decision per minute. PostgreSQL lists no day after tomorrow.
  const past = Math.min(decisions, Math.floor((Date.now() - T0) / 60_000));
  for (const n of [0, past >> 1, past - 1]) {
    const record = await store.decision(`d${n}`);
    if (record?.answers.length !== 1) throw new Error(`${name}: decision ${n} is missing`);
  }
  let found = 0;
  for await (const _ of decisionsInPages(store, "auto")) found++;
  if (found < past) throw new Error(`${name}: ${found} of ${past} decisions are there`);
  await store.close();
  return {
    [`${name}, seconds until votes are accepted`]: (opened - startedAt) / 1000,
    [`${name}, seconds until all is moved`]: seconds,
    [`${name}, votes cast at the same time`]: times.length,
    [`${name}, slowest vote ms`]: times.at(-1) ?? Number.NaN,
    [`${name}, median vote ms`]: times[times.length >> 1] ?? Number.NaN,
    [`${name}, growth of memory MB`]: (most - before) / MEGABYTE,
  };
}
