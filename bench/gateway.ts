import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Table } from "../src/lab/report/table.ts";
import { type Driver, driverOfQuestions } from "./gateway-driver.ts";
import {
  type Server,
  startFloor,
  startJoust,
  startLiteLlm,
  startMock,
  startPortkey,
} from "./gateway-servers.ts";
import type { BenchFlags, BenchResult } from "./main.ts";
import { median } from "./median.ts";
import { DOCS, publish } from "./publish.ts";

const ROUNDS = 30;
/** Of one measure of one gateway in one round. Short, and many of them: the machine is faster at one minute than at another. */
const SECONDS = 0.4;
/** At full rate, of answers and then of streams, before anything is measured: until code is compiled, rates grow. */
const WARM_UP = 5;
const MANY = 100_000;

/** What one round measures of one gateway, in the order of the table. */
interface Measured {
  readonly p50: number;
  readonly rate: number;
  readonly firstChunk: number;
  readonly streams: number;
  /** Milliseconds of processor time a request at full rate. */
  readonly processor: number;
}

/**
 * What a gateway adds: the same host, driver and prompts direct, through a bare
 * pass-through, through Joust and through others. All run at once and are asked in
 * turn, round by round, so that whatever else the machine does meets all alike.
 */
export async function gateway(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), "joust-bench-"));
  const driver = await driverOfQuestions();
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

/** One row a round, one column a server. */
async function measure(
  servers: readonly Server[],
  driver: Driver,
  rounds: number,
): Promise<Measured[][]> {
  for (const server of servers) {
    for (const stream of [false, true]) await driver.rate(server, stream, WARM_UP);
  }
  const all: Measured[][] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    const row: Measured[] = [];
    // Each comes first once, for who comes first meets another machine.
    for (let i = 0; i < servers.length; i++) {
      const s = (i + round) % servers.length;
      row[s] = await measureOne(servers[s]!, driver);
    }
    all.push(row);
  }
  return all;
}

async function measureOne(server: Server, driver: Driver): Promise<Measured> {
  const p50 = median((await driver.oneByOne(server, false, SECONDS)).map(({ whole }) => whole));
  const firstChunk = median(
    (await driver.oneByOne(server, true, SECONDS)).map(({ first }) => first),
  );
  const before = await server.processorSeconds();
  const rate = await driver.rate(server, false, SECONDS);
  const processor = (1000 * ((await server.processorSeconds()) - before)) / (rate * SECONDS);
  const streams = await driver.rate(server, true, SECONDS);
  return { p50, rate, firstChunk, streams, processor };
}

async function report(
  servers: readonly Server[],
  rounds: readonly Measured[][],
  driver: Driver,
  isWhole: boolean,
): Promise<BenchResult> {
  const of = (name: string) => servers.findIndex((server) => server.name === name);
  /** A number of a round that compares gateways; its median over the rounds. */
  const typical = (number: (round: Measured[]) => number) => median(rounds.map(number));
  const direct = of("direct");
  const added = (what: "p50" | "firstChunk") => (round: Measured[], s: number) =>
    round[s]![what] - round[direct]![what];
  const ratio = (a: string, b: string, number: (round: Measured[], s: number) => number) =>
    typical((round) => number(round, of(a)) / number(round, of(b)));

  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  ratios["added p50, joust / floor"] = ratio("joust", "floor", added("p50"));
  ratios["first chunk added, joust / floor"] = ratio("joust", "floor", added("firstChunk"));
  ratios["streams a second, joust / floor"] = ratio("joust", "floor", (r, s) => r[s]!.streams);
  for (const peer of ["portkey", "litellm"].filter((name) => of(name) >= 0)) {
    ratios[`added p50, joust / ${peer}`] = ratio("joust", peer, added("p50"));
    ratios[`requests a second, joust / ${peer}`] = ratio("joust", peer, (r, s) => r[s]!.rate);
  }
  ratios["requests a second, joust / floor"] = ratio("joust", "floor", (r, s) => r[s]!.rate);

  const rows: (string | number)[][] = [];
  for (const [s, server] of servers.entries()) {
    const row = {
      "added p50 ms": typical((round) => added("p50")(round, s)),
      "requests a second": typical((round) => round[s]!.rate),
      "first chunk added ms": typical((round) => added("firstChunk")(round, s)),
      "streams a second": typical((round) => round[s]!.streams),
      "processor ms a request": typical((round) => round[s]!.processor),
      "memory MB": await server.memory(),
    };
    for (const [what, value] of Object.entries(row)) figures[`${server.name} ${what}`] = value;
    rows.push([server.name, ...Object.values(row)]);
  }

  const joust = servers[of("joust")]!;
  const stages = await stageTimes(joust);
  for (const { stage, micros } of stages) figures[`joust stage ${stage} us`] = micros;
  const memory = await memoryOf(joust, driver);
  Object.assign(figures, memory);
  if (isWhole) {
    const table = { title: "What gateways add", columns: COLUMNS, rows } satisfies Table;
    const made = await publish("performance", table);
    await writeFile(resolve(DOCS, "performance.md"), document(made, ratios, stages, memory));
  }
  return { ratios, figures };
}

const COLUMNS: Table["columns"] = [
  { key: "gateway", title: "gateway", kind: "text" },
  { key: "added_p50_ms", title: "added p50, ms", kind: "number" },
  { key: "requests_per_second", title: "requests/s, 16 at once", kind: "whole" },
  { key: "first_chunk_added_ms", title: "first chunk added, ms", kind: "number" },
  { key: "streams_per_second", title: "streams/s, 16 at once", kind: "whole" },
  { key: "processor_ms", title: "processor ms a request", kind: "number" },
  { key: "memory_mb", title: "memory after load, MB", kind: "whole" },
];

interface StageTime {
  readonly stage: string;
  readonly micros: number;
}

/** Mean times of what Joust does with a request, by its own metrics. */
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

/** Megabytes as requests go on, up to 100,000 more. */
async function memoryOf(joust: Server, driver: Driver): Promise<Record<string, number>> {
  const steps = 4;
  const found: Record<string, number> = {};
  for (let step = 1; step <= steps; step++) {
    await driver.count(joust, MANY / steps);
    found[`joust memory MB after ${(step * MANY) / steps} more`] = await joust.memory();
  }
  return found;
}

function document(
  table: string,
  ratios: Readonly<Record<string, number>>,
  stages: readonly StageTime[],
  memory: Readonly<Record<string, number>>,
): string {
  const goal = (name: string, most: number, isLeast = false) => {
    const ratio = ratios[name];
    if (ratio === undefined) return [];
    const isMet = isLeast ? ratio >= most : ratio <= most;
    const bound = `at ${isLeast ? "least" : "most"} ${most}${isMet ? "" : ": missed"}`;
    return [`| ${name} | ${ratio.toFixed(2)} | ${bound} |`];
  };
  const micros = stages.map(({ stage, micros }) => `| ${stage} | ${micros.toFixed(0)} |`);
  const megabytes = Object.entries(memory).map(
    ([name, value]) => `${name.replace(/^joust memory MB /, "")} ${value.toFixed(0)} MB`,
  );
  return `# What the gateway costs

Made by \`npm run bench -- gateway\` on ${cpus().length} cores with Node ${process.versions.node}: one mock host that answers at
once, one driver and the same prompts, no two alike, direct, through a bare pass-through in Node (the
floor), through Joust as \`npm start\` serves it (static encoder, five models, SQLite log, metrics,
request log) and through other gateways with nothing of that. All run at once and are asked in turn; medians over
rounds. Absolute numbers mean little on a shared machine; ratios are medians of each round's own, not of the
numbers in the table. Also as
[CSV](tables/performance.csv) and [LaTeX](tables/performance.tex).

${table}
| ratio | measured | goal |
| :-- | --: | :-- |
${[
  ...goal("added p50, joust / floor", 2),
  ...goal("added p50, joust / portkey", 0.6),
  ...goal("requests a second, joust / portkey", 2.2, true),
  ...goal("first chunk added, joust / floor", 2),
  ...goal("streams a second, joust / floor", 0.7, true),
].join("\n")}

Memory of Joust as requests go on: ${megabytes.join(", ")}; the goal is 200 MB and flat. About 60 MB of it
are Node's own program, which all processes on the machine share, 8 the encoder's table, the rest the heaps of the
gateway and of the thread that writes the log and what they allocate beside them. \`npm start\` gives Node a young
generation of 4 MB and one helper thread, and SQLite a page cache of 2 MB: with 8, four and 16 it was 50 MB more. It
compiles where it runs (\`--no-concurrent-recompilation\`): beside it, what the compiler needed once was kept a second
time, 20 to 30 MB.

## Where the time goes

Mean times before the model is called, by Joust's own metrics (\`joust_stage_seconds\`); the rest of what is
added is HTTP, twice.

| stage | microseconds |
| :-- | --: |
${micros.join("\n")}

What nobody waits for is done when nobody waits: a decision is logged when its model has been asked, an
answer when it has been sent, and both are written by a thread of their own, many in a commit. Bytes of an
answer are passed on as they come; of a stream's events only id and model are rewritten, in place.
`;
}
