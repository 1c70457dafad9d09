import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../src/core/statistics.ts";
import { chat, hold, rawChat, releaseAll } from "./attack/attack.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { createDriver, type Driver, type Target } from "./gateway-driver.ts";
import { type GatewayProcess, withGateway } from "./gateway-process.ts";
import { startMock } from "./gateway-servers.ts";
import { median } from "./median.ts";

const ROUNDS = 5;
const SECONDS = 4;
/** Requests per second of the clients whose times are measured. */
const RATE = 100;
/** Unread streams of the slow client, and requests that the slow upstream keeps waiting. */
const HELD = 50;
/** Requests per second with the noisy key, which may send 10. */
const NOISE = 300;
/** Time until a disturbance has begun: the streams that nobody reads have filled the buffers of their sockets. */
const BEGIN_MS = 1000;

/** Starts to disturb the gateway. Returns a function that stops it. */
type Disturb = (place: Place) => () => Promise<void>;

interface Place {
  readonly gateway: Pick<GatewayProcess, "url">;
  readonly driver: Driver;
}

const DISTURBANCES: Readonly<Record<string, Disturb>> = {
  "slow client": ({ gateway }) => {
    const request = rawChat(chat("Why is the sky blue?", { stream: true }), secretOf("other"));
    const sockets = Array.from({ length: HELD }, () => hold(gateway.url, request));
    return async () => releaseAll(await Promise.all(sockets));
  },
  "slow upstream": ({ gateway, driver }) => {
    const target = targetOf(gateway, "other", "stuck");
    const waiting = Array.from({ length: HELD }, () => driver.send(target, false).catch(() => {}));
    return async () => void (await Promise.race([Promise.all(waiting), sleep(STUCK_MS + 500)]));
  },
  "noisy key": ({ gateway, driver }) => {
    const stopped = new AbortController();
    const noise = driver.atRate(targetOf(gateway, "noisy"), NOISE, stopped.signal);
    return async () => {
      stopped.abort();
      await noise;
    };
  },
};

/** Time after which the slow upstream refuses a request. */
const STUCK_MS = 6000;

/**
 * How much a client that does not read, an upstream that does not answer and a key that sends too much slow down the
 * requests of others. Each is measured directly before and after the same without the disturbance.
 */
export async function neighbours(
  names: readonly string[],
  flags: BenchFlags,
): Promise<BenchResult> {
  const mock = await startMock();
  const stuck = createServer((_, response) => {
    setTimeout(() => response.writeHead(503).end(), STUCK_MS).unref();
  });
  await new Promise<void>((listening) => stuck.listen(0, "127.0.0.1", listening));
  const { port } = stuck.address() as { port: number };
  return withGateway(configuration(mock.origin, port), async (gateway) => {
    const driver = await createDriver();
    const usual = targetOf(gateway, "usual");
    await driver.rate(usual, false, 5);
    const chosen = names.length > 0 ? names : Object.keys(DISTURBANCES);
    const found = new Map<string, { alone: number[]; disturbed: number[] }>();
    for (let round = 0; round < (flags.rounds ?? ROUNDS); round++) {
      for (const name of chosen) {
        const times = found.get(name) ?? { alone: [], disturbed: [] };
        found.set(name, times);
        const before = await p99(driver, usual);
        // Another driver, so that they share no connections.
        const stop = DISTURBANCES[name]!({ gateway, driver: await createDriver() });
        await sleep(BEGIN_MS);
        times.disturbed.push(await p99(driver, usual));
        await stop();
        times.alone.push((before + (await p99(driver, usual))) / 2);
      }
    }
    const ratios: Record<string, number> = {};
    const figures: Record<string, number> = {};
    for (const [name, { alone, disturbed }] of found) {
      ratios[`p99 of others, ${name} / none`] = median(disturbed.map((ms, i) => ms / alone[i]!));
      figures[`p99 of others, ${name}, ms`] = median(disturbed);
      figures[`p99 of others, none beside ${name}, ms`] = median(alone);
    }
    return { ratios, figures };
  }).finally(async () => {
    await mock.stop();
    stuck.closeAllConnections();
    stuck.close();
  });
}

function configuration(mock: string, stuck: number): string {
  return `providers:
  mock: {url: "${mock}/v1", key: none}
  stuck: {url: "http://127.0.0.1:${stuck}/v1", key: none}
models:
  one: {provider: mock, model: mock, price: {input: 1, output: 4}}
  two: {provider: mock, model: mock, price: {input: 2, output: 8}}
  stuck: {provider: stuck, model: mock, price: {input: 1, output: 4}, retries: 0}
routers:
  auto: {models: [one, two]}
keys:
  usual: {key: "${secretOf("usual")}", scopes: [route]}
  other: {key: "${secretOf("other")}", scopes: [route]}
  noisy: {key: "${secretOf("noisy")}", scopes: [route], rate: 600, concurrent: 20}
server: {log: warn}
`;
}

function secretOf(key: string): string {
  return `jst_${key}-key-of-the-benchmark-0123456789abcdef`;
}

function targetOf(
  { url: origin }: Pick<GatewayProcess, "url">,
  key: string,
  model = "auto",
): Target {
  return { origin, model, headers: { authorization: `Bearer ${secretOf(key)}` } };
}

/** The 99th percentile of the times of requests at a fixed rate, in milliseconds. */
async function p99(driver: Driver, target: Target): Promise<number> {
  const end = AbortSignal.timeout(1000 * SECONDS);
  return percentile((await driver.atRate(target, RATE, end)).times, 99);
}
