import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { createDriver, type Driver } from "./gateway-driver.ts";
import { fiveModels, type Server, startJoust, startMock, withServers } from "./gateway-servers.ts";
import { median } from "./median.ts";
import { familySeconds } from "./process-stats.ts";

const ROUNDS = 20;
const SECONDS = 0.5;
const WARM_UP_SECONDS = 5;

interface Measurement {
  readonly rate16: number;
  readonly rate64: number;
  readonly streams: number;
  /** Processor milliseconds of all processes per request, 64 at a time. */
  readonly cpu: number;
}

/**
 * Compares a gateway in one process with one in several, by default as many as there are cores.
 * Driver and upstream run on the same machine, so that the gateways cannot use all of it.
 */
export function processes([given]: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const count = Number(given ?? availableParallelism());
  return withServers(async (folder, servers) => {
    const driver = await createDriver();
    const mock = await startMock();
    servers.push(mock);
    const one = await startJoust(fiveModels(mock), join(folder, "one"));
    servers.push(one);
    const many = await startJoust(fiveModels(mock), join(folder, "many"), { processes: count });
    servers.push(many);
    for (const server of [one, many]) {
      for (const stream of [false, true]) await driver.rate(server, stream, WARM_UP_SECONDS, 64);
    }
    const rounds: [Measurement, Measurement][] = [];
    for (let round = 0; round < (flags.rounds ?? ROUNDS); round++) {
      process.stderr.write(`round ${round + 1}\n`);
      const isFirst = round % 2 === 0;
      const first = await measure(isFirst ? one : many, driver);
      const second = await measure(isFirst ? many : one, driver);
      rounds.push(isFirst ? [first, second] : [second, first]);
    }
    const ratios: Record<string, number> = {};
    const figures: Record<string, number> = {};
    for (const name of ["rate16", "rate64", "streams", "cpu"] as const) {
      ratios[`${NAMES[name]}, ${count} processes / 1`] = median(
        rounds.map(([a, b]) => b[name] / a[name]),
      );
      figures[`${NAMES[name]}, 1 process`] = median(rounds.map(([a]) => a[name]));
      figures[`${NAMES[name]}, ${count} processes`] = median(rounds.map(([, b]) => b[name]));
    }
    return { ratios, figures };
  });
}

const NAMES: Readonly<Record<keyof Measurement, string>> = {
  rate16: "requests per second, 16 at a time",
  rate64: "requests per second, 64 at a time",
  streams: "streams per second, 16 at a time",
  cpu: "processor ms per request",
};

async function measure(server: Server, driver: Driver): Promise<Measurement> {
  const rate16 = await driver.rate(server, false, SECONDS);
  const before = await familySeconds(server.pid);
  const rate64 = await driver.rate(server, false, SECONDS, 64);
  const cpu = (1000 * ((await familySeconds(server.pid)) - before)) / (rate64 * SECONDS);
  const streams = await driver.rate(server, true, SECONDS);
  return { rate16, rate64, streams, cpu };
}
