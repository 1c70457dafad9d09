import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { type Findings, isClean } from "./faults/check.ts";
import { Journal } from "./faults/journal.ts";
import { failOnPostgres, POSTGRES_FAULTS } from "./faults/postgres-faults.ts";
import { killOnSqlite } from "./faults/sqlite-kills.ts";
import { median } from "./median.ts";

/** Kills on SQLite; each fault on PostgreSQL occurs a fifth as often. */
const KILLS = 1000;

/**
 * Kills a node on SQLite under load, and kills and pauses the learner, restarts the database and
 * cuts the network of three nodes on PostgreSQL. No vote may be lost, doubled or altered, every
 * answer that carried a token can be voted on afterwards, and a replay of the log must give the
 * posterior that was saved. With --folder, a run that was interrupted continues.
 */
export async function faults(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const { folder: given, kills = KILLS } = flags;
  const folder = given ? resolve(given) : await mkdtemp(join(tmpdir(), "joust-faults-"));
  await mkdir(folder, { recursive: true });
  process.stderr.write(`logs and journals are in ${folder}\n`);
  const stop = new AbortController();
  // The cycle that runs is finished first, so that the run can be continued.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  const isStopped = () => stop.signal.aborted;
  const figures: Record<string, number> = {};
  const ratios: Record<string, number> = {};
  const isWanted = (name: string) => names.length === 0 || names.includes(name);
  if (isWanted("sqlite")) {
    const journal = new Journal(join(folder, "sqlite.jsonl"));
    const run = { count: kills, isStopped };
    const found = await killOnSqlite(join(folder, "sqlite"), journal, run);
    add("SQLite", found, journal, ["kill"]);
  }
  if (isWanted("postgres") && !isStopped()) {
    const journal = new Journal(join(folder, "postgres.jsonl"));
    const run = { count: Math.ceil(kills / 5), isStopped };
    const found = await failOnPostgres(join(folder, "cluster"), journal, run);
    add("PostgreSQL", found, journal, POSTGRES_FAULTS);
  }
  return { ratios, figures };

  function add(name: string, found: Findings, journal: Journal, kinds: readonly string[]): void {
    if (!isClean(found)) {
      throw new Error(`${name}: ${JSON.stringify(found)}; the log is in ${folder}`);
    }
    for (const kind of ["lost", "doubled", "altered", "invented"] as const) {
      ratios[`${name}, votes ${kind}`] = found[kind];
    }
    for (const kind of kinds) {
      figures[`${name}, ${kind}`] = journal.faults(kind).length;
      figures[`${name}, ${kind}, median ms`] = median(journal.faults(kind));
    }
    figures[`${name}, answers with a token`] = journal.answers;
    figures[`${name}, votes acknowledged`] = journal.acknowledgedIds.size;
    figures[`${name}, votes logged`] = found.logged;
  }
}
