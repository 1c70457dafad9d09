import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../src/store/postgres/server.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { startGateway } from "./gateway-process.ts";
import { fillLog, openPlace, type Place } from "./many/fill.ts";
import { poolCost } from "./many/pools.ts";
import { streamCost } from "./many/streams.ts";
import { median } from "./median.ts";

/** Requests of the small log. */
const FEW = 50_000;
const COPIES = 100;
const REPETITIONS = 5;
const DAY_MS = 86_400_000;
const STREAMS = 10_000;
/** Time between the chunks of a stream: long enough for all streams to be open at the same time. */
const PACE_MS = 12_000;

/** Addresses whose responses are timed, by what they show. The small log has this many requests. */
const readsOf = (few: number) => ({
  "stats of a day": "/v1/stats?hours=24",
  "stats of a month": "/v1/stats?hours=720",
  "search, newest": "/v1/decisions?limit=100",
  "search, one model": "/v1/decisions?limit=100&model=pebble-mini",
  "search, failed": "/v1/decisions?limit=100&outcome=failed",
  "search, slow": "/v1/decisions?limit=100&min_latency_ms=50000",
  "search, expensive": "/v1/decisions?limit=100&min_cost=0.5",
  "search, one key": "/v1/decisions?limit=100&key=key_3",
  "search, voted on": "/v1/decisions?limit=100&vote=any",
  "search, text": `/v1/decisions?limit=100&text=number%20${few - 1}`,
});

/** Parts of the benchmark, all of them by default. */
const PARTS = ["sqlite", "postgres", "models", "routers", "streams"];

/**
 * `sqlite`, `postgres`: a log of 50,000 requests of 30 days (or the number of --from) and one of 5,000,000 (or the number of
 * --rounds): time until the gateway serves, time of statistics and searches, and time to delete a day. `models`, `routers`: a
 * pool of 1,000 models, and 1,000 routers, against ten. `streams`: 10,000 streams at the same time.
 */
export async function many(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const few = flags.from ?? FEW;
  const copies = flags.rounds === undefined ? COPIES : Math.ceil(flags.rounds / few);
  const parts = names.length > 0 ? names : PARTS;
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  for (const part of parts.filter((name) => name === "models" || name === "routers")) {
    const of = (count: number) => (part === "models" ? poolCost(count, 1) : poolCost(50, count));
    const [few, all] = [await of(10), await of(1000)];
    for (const [name, value] of Object.entries(all)) {
      ratios[`${part}: ${name}, 1,000 / 10`] = value / few[name as keyof typeof few];
      figures[`${part}: ${name}, 10`] = few[name as keyof typeof few];
      figures[`${part}: ${name}, 1,000`] = value;
    }
  }
  if (parts.includes("streams")) {
    const cost = await streamCost(STREAMS, PACE_MS);
    for (const [name, value] of Object.entries(cost)) figures[`streams: ${name}`] = value;
  }
  for (const database of parts.filter((name) => name === "sqlite" || name === "postgres")) {
    const [small, large] = await measured(database, few, copies);
    for (const [name, times] of Object.entries(large)) {
      ratios[`${database}: ${name}, many / few`] = median(times) / median(small[name]!);
      figures[`${database}: ${name}, few, ms`] = median(small[name]!);
      figures[`${database}: ${name}, many, ms`] = median(times);
    }
  }
  return { ratios, figures };
}

type Times = Record<string, number[]>;

/**
 * Times in milliseconds of each step with a log of `few` requests and with one that also has their copies. The
 * logs are read alternately, so that a change of the machine's load affects both.
 */
async function measured(database: string, few: number, copies: number): Promise<[Times, Times]> {
  const folder = mkdtempSync(join(tmpdir(), "joust-bench-many-"));
  const server = database === "postgres" ? await startPostgres() : undefined;
  if (typeof server === "string") throw new Error(server);
  try {
    const logs: Log[] = [];
    for (const count of [1, copies]) {
      const own = join(folder, String(count));
      mkdirSync(own);
      const url = await server?.newDatabase();
      const place: Place = url === undefined ? { file: join(own, "joust.db") } : { url };
      const store = url === undefined ? "" : `store: {url: "${url}"}\n`;
      writeFileSync(join(own, "joust.yaml"), `sandbox: {}\n${store}`);
      process.stderr.write(`${database}: ${(few * count).toLocaleString("en")} requests\n`);
      await fillLog(place, few, count);
      logs.push({ folder: own, place, times: {} });
    }
    for (let i = 0; i < REPETITIONS; i++) {
      for (const log of logs) await readAll(log, readsOf(few));
    }
    for (const { place, times } of logs) times["delete a day"] = await pruneDays(place);
    return [logs[0]!.times, logs[1]!.times];
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A log that is measured, with the folder of the gateway that serves it. */
interface Log {
  readonly folder: string;
  readonly place: Place;
  readonly times: Times;
}

async function readAll(
  { folder, times }: Log,
  reads: Readonly<Record<string, string>>,
): Promise<void> {
  const note = (name: string, since: number) => {
    times[name] ??= [];
    times[name].push(performance.now() - since);
  };
  const before = performance.now();
  const gateway = await startGateway(folder);
  note("start", before);
  for (const [name, path] of Object.entries(reads)) {
    const start = performance.now();
    const response = await fetch(`${gateway.url}${path}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} responded with status ${response.status}`);
    // Only the first response of a process is not cached.
    note(name, start);
  }
  await gateway.end("SIGTERM");
}

async function pruneDays(place: Place): Promise<number[]> {
  const store = await openPlace(place);
  const oldest = Math.ceil((Date.now() - 30 * DAY_MS) / DAY_MS) * DAY_MS;
  const times: number[] = [];
  for (let day = 0; day < REPETITIONS; day++) {
    const start = performance.now();
    const { decisions } = await store.prune({ decisions: oldest + day * DAY_MS });
    if (decisions === 0) throw new Error("a day was empty");
    times.push(performance.now() - start);
  }
  await store.close();
  return times;
}
