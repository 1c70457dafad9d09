import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Table } from "../src/lab/report/table.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { createDriver, type Driver } from "./gateway-driver.ts";
import {
  type Server,
  startFloor,
  startJoust,
  startLiteLlm,
  startMock,
  startPortkey,
} from "./gateway-servers.ts";
import { median } from "./median.ts";
import { DOCS, publish } from "./publish.ts";

const ROUNDS = 30;
/** Seconds per measurement. Many short rounds are fairer than few long ones, because the speed of the machine varies. */
const SECONDS = 0.4;
/** Seconds of full load before the measurement, first with responses, then with streams: rates grow until the code is compiled. */
const WARM_UP_SECONDS = 5;
const MEMORY_REQUESTS = 100_000;

/** Results of one gateway in one round. */
interface Measurement {
  readonly p50: number;
  readonly rate: number;
  readonly firstChunk: number;
  readonly streams: number;
  /** CPU milliseconds per request at full rate. */
  readonly cpu: number;
}

/**
 * Measures what a gateway adds to a request. The same driver sends the same prompts to the same
 * upstream: directly, through a minimal pass-through, through Joust and through other gateways. All
 * servers run at the same time and take turns, so that disturbances affect all of them equally.
 */
export async function gateway(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), "joust-bench-"));
  const driver = await createDriver();
  const mock = await startMock();
  const servers = [mock];
  try {
    servers.push(await startFloor(mock), await startJoust(mock, folder));
    const peers = { portkey: startPortkey, litellm: startLiteLlm };
    for (const [name, start] of Object.entries(peers)) {
      const peer = names.length === 0 || names.includes(name) ? await start(mock) : undefined;
      if (peer) servers.push(peer);
    }
    const rounds = await measure(servers, driver, flags.rounds ?? ROUNDS);
    return await report(servers, rounds, driver, names.length === 0);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** One row per round, one column per server. */
async function measure(
  servers: readonly Server[],
  driver: Driver,
  rounds: number,
): Promise<Measurement[][]> {
  for (const server of servers) {
    for (const stream of [false, true]) await driver.rate(server, stream, WARM_UP_SECONDS);
  }
  const all: Measurement[][] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    const row: Measurement[] = [];
    // Each server comes first in some rounds, because the position influences the result.
    for (let i = 0; i < servers.length; i++) {
      const s = (i + round) % servers.length;
      row[s] = await measureOne(servers[s]!, driver);
    }
    all.push(row);
  }
  return all;
}

async function measureOne(server: Server, driver: Driver): Promise<Measurement> {
  const p50 = median((await driver.sequential(server, false, SECONDS)).map(({ whole }) => whole));
  const firstChunk = median(
    (await driver.sequential(server, true, SECONDS)).map(({ first }) => first),
  );
  const before = await server.cpuSeconds();
  const rate = await driver.rate(server, false, SECONDS);
  const cpu = (1000 * ((await server.cpuSeconds()) - before)) / (rate * SECONDS);
  const streams = await driver.rate(server, true, SECONDS);
  return { p50, rate, firstChunk, streams, cpu };
}

async function report(
  servers: readonly Server[],
  rounds: readonly Measurement[][],
  driver: Driver,
  writesDocs: boolean,
): Promise<BenchResult> {
  const indexOf = (name: string) => servers.findIndex((server) => server.name === name);
  /** The median over the rounds of a number that compares gateways. */
  const typical = (number: (round: Measurement[]) => number) => median(rounds.map(number));
  const direct = indexOf("direct");
  const added = (name: "p50" | "firstChunk") => (round: Measurement[], s: number) =>
    round[s]![name] - round[direct]![name];
  const ratio = (a: string, b: string, number: (round: Measurement[], s: number) => number) =>
    typical((round) => number(round, indexOf(a)) / number(round, indexOf(b)));

  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  ratios["added p50, joust / floor"] = ratio("joust", "floor", added("p50"));
  ratios["added time to first chunk, joust / floor"] = ratio("joust", "floor", added("firstChunk"));
  ratios["streams per second, joust / floor"] = ratio("joust", "floor", (r, s) => r[s]!.streams);
  for (const peer of ["portkey", "litellm"].filter((name) => indexOf(name) >= 0)) {
    ratios[`added p50, joust / ${peer}`] = ratio("joust", peer, added("p50"));
    ratios[`requests per second, joust / ${peer}`] = ratio("joust", peer, (r, s) => r[s]!.rate);
  }
  ratios["requests per second, joust / floor"] = ratio("joust", "floor", (r, s) => r[s]!.rate);

  const rows: (string | number)[][] = [];
  for (const [s, server] of servers.entries()) {
    const row = {
      "added p50 ms": typical((round) => added("p50")(round, s)),
      "requests per second": typical((round) => round[s]!.rate),
      "added time to first chunk ms": typical((round) => added("firstChunk")(round, s)),
      "streams per second": typical((round) => round[s]!.streams),
      "CPU ms per request": typical((round) => round[s]!.cpu),
      "memory MB": await server.memory(),
    };
    for (const [name, value] of Object.entries(row)) figures[`${server.name} ${name}`] = value;
    rows.push([server.name, ...Object.values(row)]);
  }

  const joust = servers[indexOf("joust")]!;
  const stages = await stageTimes(joust);
  for (const { stage, micros } of stages) figures[`joust stage ${stage} us`] = micros;
  const memory = await memoryOf(joust, driver);
  Object.assign(figures, memory);
  if (writesDocs) {
    const table = {
      title: "What each gateway adds to a request",
      columns: COLUMNS,
      rows,
    } satisfies Table;
    const markdown = await publish("performance", table);
    await writeFile(resolve(DOCS, "performance.md"), document(markdown, ratios, stages, memory));
  }
  return { ratios, figures };
}

const COLUMNS: Table["columns"] = [
  { key: "gateway", title: "gateway", kind: "text" },
  { key: "added_p50_ms", title: "added p50, ms", kind: "number" },
  { key: "requests_per_second", title: "requests/s, 16 concurrent", kind: "whole" },
  { key: "first_chunk_added_ms", title: "added time to first chunk, ms", kind: "number" },
  { key: "streams_per_second", title: "streams/s, 16 concurrent", kind: "whole" },
  { key: "processor_ms", title: "CPU ms per request", kind: "number" },
  { key: "memory_mb", title: "memory after load, MB", kind: "whole" },
];

interface StageTime {
  readonly stage: string;
  readonly micros: number;
}

/** Mean times of the stages of a request, from Joust's own metrics. */
async function stageTimes({ origin }: Server): Promise<StageTime[]> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  const stages = [...text.matchAll(/^joust_stage_seconds_sum\{stage="(\w+)"\}/gm)].map(
    ([, stage]) => stage!,
  );
  return stages.map((stage) => {
    const sum = read(`joust_stage_seconds_sum\\{stage="${stage}"\\}`);
    return {
      stage,
      micros: (1e6 * sum) / read(`joust_stage_seconds_count\\{stage="${stage}"\\}`),
    };
  });
}

/** Memory in MB after each quarter of 100,000 further requests. */
async function memoryOf(joust: Server, driver: Driver): Promise<Record<string, number>> {
  const steps = 4;
  const found: Record<string, number> = {};
  for (let step = 1; step <= steps; step++) {
    await driver.sendMany(joust, MEMORY_REQUESTS / steps);
    found[`joust memory MB after ${(step * MEMORY_REQUESTS) / steps} requests`] =
      await joust.memory();
  }
  return found;
}

function document(
  table: string,
  ratios: Readonly<Record<string, number>>,
  stages: readonly StageTime[],
  memory: Readonly<Record<string, number>>,
): string {
  const goal = (name: string, limit: number, isMinimum = false) => {
    const ratio = ratios[name];
    if (ratio === undefined) return [];
    const isMet = isMinimum ? ratio >= limit : ratio <= limit;
    const bound = `at ${isMinimum ? "least" : "most"} ${limit}${isMet ? "" : ": missed"}`;
    return [`| ${name} | ${ratio.toFixed(2)} | ${bound} |`];
  };
  const micros = stages.map(({ stage, micros }) => `| ${stage} | ${micros.toFixed(0)} |`);
  const megabytes = Object.entries(memory).map(
    ([name, value]) => `${value.toFixed(0)} MB ${name.replace(/^joust memory MB /, "")}`,
  );
  return `# Performance of the gateway

\`npm run bench -- gateway\` made this page on ${cpus().length} cores with Node ${process.versions.node}. One driver sends the
same prompts, no two of them equal, to a mock upstream that responds immediately: directly, through a minimal
pass-through proxy in Node (\`floor\`), through Joust as \`npm start\` runs it (static encoder, five models, SQLite log,
metrics, request log), and through other gateways without these features. All servers run at the same time and take
turns; the numbers are medians over the rounds. Absolute numbers mean little on a shared machine. A ratio is the
median of the ratios of the single rounds, so it may differ from the ratio of two numbers in the table. The table is
also available as [CSV](tables/performance.csv) and [LaTeX](tables/performance.tex).

${table}
| ratio | measured | goal |
| :-- | --: | :-- |
${[
  ...goal("added p50, joust / floor", 2),
  ...goal("added p50, joust / portkey", 0.6),
  ...goal("requests per second, joust / portkey", 2.2, true),
  ...goal("added time to first chunk, joust / floor", 2),
  ...goal("streams per second, joust / floor", 0.7, true),
].join("\n")}

Memory of Joust under further load: ${megabytes.join(", ")}. The
goal is 200 MB without growth. About 60 MB are Node's own program, which all Node processes on the machine share, and
8 MB are the encoder's table. The rest are the heaps of the gateway and of the thread that writes the log, with their
native memory. \`npm start\` sets a young generation of 4 MB, one helper thread and a SQLite page cache of 2 MB; with
8 MB, four threads and 16 MB the process needed 50 MB more. Node compiles on the main thread
(\`--no-concurrent-recompilation\`), because the memory of a concurrent compiler stays allocated: 20 to 30 MB.

## Where the time goes

Mean times of the stages before the model is called, from Joust's own metrics (\`joust_stage_seconds\`). The rest of the
added time is HTTP, once on each side of the gateway.

| stage | microseconds |
| :-- | --: |
${micros.join("\n")}

Work that no client waits for is done later. A decision is logged after the model has been called and an answer after
it has been sent; a separate thread writes both, many per commit. The bytes of an answer are passed on as they arrive.
In the events of a stream only the id and the model are rewritten, in place.
`;
}
