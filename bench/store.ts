import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../src/store/postgres/server.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { median } from "./median.ts";

const ROUNDS = 5;
const SECONDS = 3;

/**
 * Decisions per second that one, two and three processes write, each with an answer and an
 * embedding of 256 numbers, in batches of 100, on SQLite and on PostgreSQL (without fsync).
 */
export async function store(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "joust-bench-store-"));
  const names = [
    "sqlite 1",
    "sqlite 2",
    ...(typeof server === "string" ? [] : ["postgres 1", "postgres 2", "postgres 3"]),
  ];
  const rates = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < (flags.rounds ?? ROUNDS); round++) {
    for (const name of names) {
      const [database, count] = name.split(" ");
      const place =
        database === "sqlite" || typeof server === "string"
          ? join(folder, `${round}-${count}.db`)
          : await server.newDatabase();
      rates.get(name)!.push(await written(place, Number(count)));
    }
  }
  if (typeof server !== "string") await server.stop();
  rmSync(folder, { recursive: true });
  const figures = Object.fromEntries(
    [...rates].map(([name, all]) => [`${name} writer(s), decisions/s`, median(all)]),
  );
  const gain = (database: string, writers: number) =>
    median(
      rates.get(`${database} ${writers}`)!.map((rate, i) => rate / rates.get(`${database} 1`)![i]!),
    );
  return {
    ratios: {
      "SQLite, two writers / one writer": gain("sqlite", 2),
      ...(typeof server !== "string" && {
        "PostgreSQL, two writers / one writer": gain("postgres", 2),
        "PostgreSQL, three writers / one writer": gain("postgres", 3),
      }),
    },
    figures,
  };
}

/** Decisions per second of several processes together. */
async function written(place: string, processes: number): Promise<number> {
  const file = new URL("./store-writer.ts", import.meta.url);
  const writers = Array.from({ length: processes }, () => fork(file, [place, String(SECONDS)]));
  const ready = await Promise.all(writers.map((writer) => once(writer, "message")));
  if (ready.length !== processes) throw new Error("a writer did not start");
  for (const writer of writers) writer.send("start");
  const counts = await Promise.all(
    writers.map(async (writer) => Number((await once(writer, "message"))[0])),
  );
  return counts.reduce((sum, count) => sum + count, 0) / SECONDS;
}
