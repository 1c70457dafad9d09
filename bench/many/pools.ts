import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDriver, type Driver } from "../gateway-driver.ts";
import { type Server, startJoust, startMock, withServers } from "../gateway-servers.ts";

const SECONDS = 6;

/** Time, memory and log bytes that a gateway needs with many models in its router, or with many routers of five models. */
export interface PoolCost {
  readonly startMs: number;
  readonly requestsPerSecond: number;
  /** Processor milliseconds per request, and per second without requests. */
  readonly cpuMs: number;
  readonly idleMs: number;
  readonly memoryMb: number;
  /** Bytes of the log per request. */
  readonly bytes: number;
}

export function poolCost(models: number, routers: number): Promise<PoolCost> {
  return withServers(async (folder, servers) => {
    const driver = await createDriver();
    const mock = await startMock();
    servers.push(mock);
    const before = performance.now();
    const yaml = yamlOf(mock.origin, models, routers);
    const joust = await startJoust(yaml, folder, { model: routers > 1 ? "router-1" : "auto" });
    servers.push(joust);
    const startMs = performance.now() - before;
    await sleep(5000);
    const idle = await joust.cpuSeconds();
    await sleep(5000);
    const idleMs = (1000 * ((await joust.cpuSeconds()) - idle)) / 5;
    return { startMs, idleMs, ...(await underLoad(joust, driver, folder)) };
  });
}

async function underLoad(joust: Server, driver: Driver, folder: string) {
  await driver.rate(joust, false, 2);
  const [bytes, cpu] = [bytesIn(folder), await joust.cpuSeconds()];
  const requestsPerSecond = await driver.rate(joust, false, SECONDS);
  const requests = requestsPerSecond * SECONDS;
  const cpuMs = (1000 * ((await joust.cpuSeconds()) - cpu)) / requests;
  const memoryMb = await joust.memory();
  // The log is written within 50 ms, and its write-ahead log when it is closed.
  await joust.stop();
  return { requestsPerSecond, cpuMs, memoryMb, bytes: (bytesIn(folder) - bytes) / requests };
}

function yamlOf(origin: string, models: number, routers: number): string {
  const name = (k: number) => `model-${String(k % models).padStart(4, "0")}`;
  const lines = Array.from({ length: models }, (_, k) => {
    const price = `{input: ${0.1 + (k % 37) / 10}, output: ${0.4 + (k % 53) / 5}}`;
    return `  ${name(k)}: {provider: mock, model: mock, price: ${price}}`;
  });
  const pools = Array.from({ length: routers }, (_, r) => {
    const own = [0, 1, 2, 3, 4].map((i) => name(r + i));
    return `  router-${r}: {models: [${own.join(", ")}]}`;
  });
  return [
    "providers:",
    `  mock: {url: "${origin}/v1", key: none}`,
    "models:",
    ...lines,
    ...(routers > 1 ? ["routers:", ...pools] : []),
    "",
  ].join("\n");
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile() && /\.db(-wal)?$/.test(entry.name))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
