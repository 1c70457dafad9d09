import { join, resolve } from "node:path";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { createDriver, type Driver } from "./gateway-driver.ts";
import { type GatewayRow, writePage } from "./gateway-page.ts";
import {
  fiveModels,
  type Server,
  startBifrost,
  startFloor,
  startJoust,
  startMock,
  startPortkey,
  withServers,
} from "./gateway-servers.ts";
import { median } from "./median.ts";

const ROUNDS = 30;
/** Seconds per measurement. Many short rounds are fairer than few long ones, because the speed of the machine varies. */
const SECONDS = 0.4;
/**
 * Seconds of full load before the measurement, first with responses, then with streams. Rates grow until the code is
 * compiled, which takes gateways in Node some 25,000 requests.
 */
const WARM_UP_SECONDS = 15;
const STREAM_WARM_UP_SECONDS = 5;
const MEMORY_REQUESTS = 100_000;
const MEMORY_STEPS = 4;

/** Results of one gateway in one round. Times in milliseconds. */
interface Measurement {
  readonly p50: number;
  readonly rate16: number;
  readonly rate64: number;
  readonly firstChunk: number;
  readonly pacedFirstChunk: number;
  readonly streams: number;
  /** CPU milliseconds per request and per stream, 16 at the same time. */
  readonly cpu: number;
  readonly streamCpu: number;
}

type Round = readonly Measurement[];
type NumberOf = (round: Round, server: number) => number;

/**
 * Measures what a gateway adds to a request. The same driver sends the same prompts to the same
 * upstream: directly, through a minimal pass-through, through Joust and through other gateways. All
 * servers run at the same time and take turns, so that disturbances affect all of them equally.
 */
export function gateway(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  return withServers(async (folder, servers) => {
    const driver = await createDriver();
    const mock = await startMock();
    servers.push(mock);
    servers.push(await startFloor(mock));
    servers.push(await startJoust(fiveModels(mock), join(folder, "joust")));
    if (flags.before !== undefined) {
      const other = { name: "before", checkout: resolve(flags.before) };
      servers.push(await startJoust(fiveModels(mock), join(folder, "before"), other));
    }
    if (flags.bifrost !== undefined) {
      servers.push(await startBifrost(mock, join(folder, "bifrost"), resolve(flags.bifrost)));
    }
    const isAll = names.length === 0;
    const portkey = isAll || names.includes("portkey") ? await startPortkey(mock) : undefined;
    if (portkey) servers.push(portkey);
    const rounds = await measure(servers, driver, flags.rounds ?? ROUNDS);
    return report(servers, rounds, driver, isAll || flags.bifrost !== undefined);
  });
}

/** One row per round, one column per server. */
async function measure(
  servers: readonly Server[],
  driver: Driver,
  rounds: number,
): Promise<Measurement[][]> {
  for (const server of servers) {
    await driver.rate(server, false, WARM_UP_SECONDS);
    await driver.rate(server, true, STREAM_WARM_UP_SECONDS);
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
  const firsts = (await driver.sequential(server, true, SECONDS)).map(({ first }) => first);
  const paced = (await driver.paced(server, SECONDS)).map(({ first }) => first);
  const { rate: rate16, cpu } = await measureRate(server, driver, false);
  const { rate: streams, cpu: streamCpu } = await measureRate(server, driver, true);
  const rate64 = await driver.rate(server, false, SECONDS, 64);
  const [firstChunk, pacedFirstChunk] = [median(firsts), median(paced)];
  return { p50, rate16, rate64, firstChunk, pacedFirstChunk, streams, cpu, streamCpu };
}

/** Requests per second and CPU milliseconds per request, 16 at the same time. */
async function measureRate(server: Server, driver: Driver, stream: boolean) {
  const before = await server.cpuSeconds();
  const start = performance.now();
  const rate = await driver.rate(server, stream, SECONDS);
  const sent = (rate * (performance.now() - start)) / 1000;
  return { rate, cpu: (1000 * ((await server.cpuSeconds()) - before)) / sent };
}

async function report(
  servers: readonly Server[],
  rounds: readonly Round[],
  driver: Driver,
  isPublished: boolean,
): Promise<BenchResult> {
  const indexOf = (name: string) => servers.findIndex((server) => server.name === name);
  /** The median over the rounds of a number that compares gateways. */
  const typical = (number: (round: Round) => number) => median(rounds.map(number));
  const direct = indexOf("direct");
  const own =
    (name: keyof Measurement): NumberOf =>
    (round, s) =>
      round[s]![name];
  const added =
    (name: keyof Measurement): NumberOf =>
    (round, s) =>
      round[s]![name] - round[direct]![name];

  const ratios: Record<string, number> = {};
  for (const peer of servers.map(({ name }) => name)) {
    if (peer === "direct" || peer === "joust") continue;
    for (const [title, number] of Object.entries({
      "added p50": added("p50"),
      p50: own("p50"),
      "requests per second, 16 concurrent": own("rate16"),
      "requests per second, 64 concurrent": own("rate64"),
      "CPU time per request": own("cpu"),
      "added time to first chunk": added("firstChunk"),
      "added time to first chunk, 16 paced streams": added("pacedFirstChunk"),
      "streams per second": own("streams"),
      "CPU time per stream": own("streamCpu"),
    })) {
      ratios[`${title}, joust / ${peer}`] = typical(
        (round) => number(round, indexOf("joust")) / number(round, indexOf(peer)),
      );
    }
  }

  const figures: Record<string, number> = {};
  const rows: GatewayRow[] = [];
  for (const [s, server] of servers.entries()) {
    const row: GatewayRow = {
      gateway: server.name,
      addedP50: typical((round) => added("p50")(round, s)),
      rate16: typical((round) => round[s]!.rate16),
      rate64: typical((round) => round[s]!.rate64),
      cpu: typical((round) => round[s]!.cpu),
      firstChunk: typical((round) => added("firstChunk")(round, s)),
      pacedFirstChunk: typical((round) => added("pacedFirstChunk")(round, s)),
      streams: typical((round) => round[s]!.streams),
      streamCpu: typical((round) => round[s]!.streamCpu),
      memory: await server.memory(),
    };
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "number") figures[`${server.name} ${name}`] = value;
    }
    rows.push(row);
  }

  const joust = servers[indexOf("joust")]!;
  const stages = await stageTimes(joust);
  for (const [stage, micros] of Object.entries(stages)) figures[`joust stage ${stage} us`] = micros;
  if (!isPublished) return { ratios, figures };
  const memory = await memoryOf(joust, driver);
  for (const [requests, megabytes] of memory) {
    figures[`joust memory MB after ${requests} requests`] = megabytes;
  }
  await writePage({ rows, ratios, stages, memory });
  return { ratios, figures };
}

/** Mean times in microseconds of the stages of a request, from Joust's own metrics. */
async function stageTimes({ origin }: Server): Promise<Record<string, number>> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  const stages = [...text.matchAll(/^joust_stage_seconds_sum\{stage="(\w+)"\}/gm)].map(
    ([, stage]) => stage!,
  );
  return Object.fromEntries(
    stages.map((stage) => {
      const sum = read(`joust_stage_seconds_sum\\{stage="${stage}"\\}`);
      return [stage, (1e6 * sum) / read(`joust_stage_seconds_count\\{stage="${stage}"\\}`)];
    }),
  );
}

/** Memory in MB by number of further requests. */
async function memoryOf(joust: Server, driver: Driver): Promise<Map<number, number>> {
  const found = new Map([[0, await joust.memory()]]);
  for (let step = 1; step <= MEMORY_STEPS; step++) {
    await driver.sendMany(joust, MEMORY_REQUESTS / MEMORY_STEPS);
    found.set((step * MEMORY_REQUESTS) / MEMORY_STEPS, await joust.memory());
  }
  return found;
}
