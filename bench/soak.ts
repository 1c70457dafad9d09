import { percentile } from "../src/core/statistics.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { createDriver, type Driver } from "./gateway-driver.ts";
import { fiveModels, type Server, startJoust, startMock, withServers } from "./gateway-servers.ts";

const MINUTES = 60;
/** Share of the maximal load. */
const LOAD = 0.7;
/** Number of parts of the run. The last is compared with the second, in which the code is compiled. */
const PARTS = 4;

/**
 * Runs the gateway at a steady 70% of its maximal load; one request in ten is a stream. Memory and
 * p99 must not grow, and no request may fail.
 */
export function soak(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const minutes = flags.minutes ?? MINUTES;
  return withServers(async (folder, servers) => {
    const mock = await startMock();
    servers.push(mock);
    const joust = await startJoust(fiveModels(mock), folder);
    servers.push(joust);
    const driver = await createDriver();
    for (const stream of [false, true]) await driver.rate(joust, stream, 3);
    const rate = LOAD * (await maximalRate(joust, driver));
    process.stderr.write(`${minutes} minutes at ${Math.round(rate)} requests per second\n`);
    const parts: Part[] = [];
    for (let part = 0; part < PARTS; part++) {
      parts.push(await runPart(joust, driver, rate, (60_000 * minutes) / PARTS));
      const { p50, p99, memory, failed } = parts.at(-1)!;
      process.stderr.write(
        `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${memory.toFixed(0)} MB, ${failed} failed\n`,
      );
    }
    return report(parts, rate);
  });
}

interface Part {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly memory: number;
}

/** Maximal requests per second if one in ten is a stream. */
async function maximalRate(joust: Server, driver: Driver): Promise<number> {
  const [whole, streams] = [await driver.rate(joust, false, 5), await driver.rate(joust, true, 5)];
  return 1 / (0.9 / whole + 0.1 / streams);
}

async function runPart(
  joust: Server,
  driver: Driver,
  rate: number,
  milliseconds: number,
): Promise<Part> {
  const end = AbortSignal.timeout(milliseconds);
  const { times, failed } = await driver.atRate(joust, rate, end, 10);
  const [p50, p99] = [percentile(times, 50), percentile(times, 99)];
  return { requests: times.length + failed, failed, p50, p99, memory: await joust.memory() };
}

function report(parts: readonly Part[], rate: number): BenchResult {
  const [first, last] = [parts[1]!, parts.at(-1)!];
  const figures: Record<string, number> = { "requests per second": rate };
  for (const [i, { requests, p50, p99, memory }] of parts.entries()) {
    Object.assign(figures, {
      [`part ${i + 1} requests`]: requests,
      [`part ${i + 1} p50 ms`]: p50,
      [`part ${i + 1} p99 ms`]: p99,
      [`part ${i + 1} memory MB`]: memory,
    });
  }
  const failed = parts.reduce((sum, part) => sum + part.failed, 0);
  return {
    ratios: {
      "memory growth, last / second part": last.memory / first.memory,
      "p99 growth, last / second part": last.p99 / first.p99,
      "requests failed": failed,
    },
    figures,
  };
}
