import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "../gateway-process.ts";
import { withGateway } from "../gateway-process.ts";
import { send } from "../http.ts";
import { memory, processorSeconds } from "../process-stats.ts";
import {
  ADMIN,
  type Attack,
  bearer,
  chat,
  health,
  hold,
  KEY,
  KEYS,
  metric,
  milliseconds,
  OTHER_KEY,
  rawChat,
  releaseAll,
  SANDBOX,
} from "./attack.ts";
import { withFaultyUpstream } from "./faulty-upstream.ts";

const HALF = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";

export const CONNECTION_ATTACKS: readonly Attack[] = [
  {
    item: "1",
    attack: "400 half-sent requests, 300 descriptors",
    before: "no health check answered while the clients stay",
    run: () => withGateway(SANDBOX, halfSent, { descriptors: 300 }),
  },
  {
    item: "1",
    attack: "20 clients that do not read a stream, upstream cut",
    before: "20 of 20 connections held after 40 s",
    run: unreadStreams,
  },
  {
    item: "1",
    attack: "10,000 idle connections",
    before: "316 to 723 MB, never freed",
    run: () => withGateway(`${SANDBOX}\nserver: {idle_seconds: 15}`, idleConnections),
  },
  {
    item: "13b",
    attack: "200 event streams of one key",
    before: "no limit",
    run: eventStreams,
  },
  {
    item: "13c",
    attack: "270 unread streams of one key, request of another key",
    before: "delayed by 23 s",
    run: greedyKey,
  },
];

async function halfSent({ url }: { readonly url: string }) {
  const sockets = await Promise.all(
    Array.from({ length: 400 }, (_, i) =>
      hold(url, i % 2 ? HALF : `${HALF}content-length: 100\r\n\r\n{"model"`),
    ),
  );
  const times: (number | undefined)[] = [];
  for (let i = 0; i < 25; i++) {
    times.push(await health(url));
    await sleep(200);
  }
  const other = await send(`${url}/v1/chat/completions`, {
    method: "POST",
    from: "127.0.0.2",
    body: JSON.stringify(chat("hi")),
  }).catch(() => undefined);
  releaseAll(sockets);
  const answered = times.filter((time) => time !== undefined);
  return {
    now: `${answered.length} of 25 health checks, slowest ${milliseconds(Math.max(...answered))}; chat from another address: ${other?.status}`,
    held: answered.length === 25 && other?.status === 200,
  };
}

/** A gateway with a model that streams without end, and one of another upstream that answers well. */
function withEndless<T>(
  work: (gateway: GatewayProcess, closeEndless: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return withFaultyUpstream((endless) =>
    withFaultyUpstream((well) =>
      withGateway(
        `${KEYS}
providers: {endless: {url: "${endless.url("endless")}"}, well: {url: "${well.url("well")}"}}
models: {endless: {provider: endless}, well: {provider: well}}`,
        (gateway) => work(gateway, endless.close),
      ),
    ),
  );
}

const ENDLESS = chat("hi", { model: "endless", stream: true });

function unreadStreams() {
  return withEndless(async ({ url }, close) => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => hold(url, rawChat(ENDLESS, KEY))),
    );
    await sleep(3000);
    const held = await metric(url, "joust_connections", ADMIN);
    await close();
    const startedAt = performance.now();
    let left = held;
    while (left > 1 && performance.now() - startedAt < 180_000) {
      await sleep(1000);
      left = await metric(url, "joust_connections", ADMIN);
    }
    releaseAll(sockets);
    // One connection is that of the metrics.
    return {
      now: `${held - 1} held at first, ${left - 1} after ${milliseconds(performance.now() - startedAt)}`,
      held: left <= 1,
    };
  });
}

async function idleConnections({ url, pid }: { readonly url: string; readonly pid: number }) {
  const before = await memory(pid);
  const sockets = [];
  const request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
  for (let i = 0; i < 10_000; i += 250) {
    const batch = Array.from({ length: 250 }, (_, k) =>
      hold(url, request, `127.0.0.${1 + ((i + k) % 4)}`),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  const during = await memory(pid);
  const most = await metric(url, "joust_connections");
  const reachable = await health(url);
  let left = most;
  for (let waited = 0; left > 5 && waited < 60; waited++) {
    await sleep(1000);
    left = await metric(url, "joust_connections");
  }
  const after = await memory(pid);
  releaseAll(sockets);
  return {
    now: `${most} accepted, ${before.toFixed(0)} to ${during.toFixed(0)} MB, ${left} and ${after.toFixed(0)} MB after the idle time; health check ${reachable === undefined ? "lost" : milliseconds(reachable)}`,
    held: reachable !== undefined && left <= 5 && during - before < 250,
  };
}

function eventStreams() {
  return withGateway(`${SANDBOX}\n${KEYS}`, async ({ url }) => {
    const statuses = new Map<number, number>();
    const request = `GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEY}\r\n\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const socket = await hold(url, request);
        const first = await new Promise<Buffer>((read) => socket.once("data", read).resume());
        const status = Number(first.toString().slice(9, 12));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        return socket;
      }),
    );
    releaseAll(sockets);
    return {
      now: `${statuses.get(200)} accepted, ${statuses.get(429) ?? 0} refused with 429`,
      held: (statuses.get(200) ?? 0) <= 50,
    };
  });
}

function greedyKey() {
  return withEndless(async ({ url, pid }) => {
    const sockets = await Promise.all(
      Array.from({ length: 270 }, () => hold(url, rawChat(ENDLESS, KEY))),
    );
    const times: number[] = [];
    const seconds: number[] = [];
    let status = 200;
    for (let i = 0; i < 10 && status === 200; i++) {
      const startedAt = performance.now();
      const before = await processorSeconds(pid);
      ({ status } = await send(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer(OTHER_KEY),
        body: JSON.stringify(chat("hi", { model: "well" })),
        timeoutMs: 120_000,
      }));
      times.push(performance.now() - startedAt);
      seconds.push((await processorSeconds(pid)) - before);
    }
    releaseAll(sockets);
    // While the buffers of 270 streams are filled, the gateway works. On a busy machine that takes longer.
    const most = Math.max(...seconds);
    return {
      now: `10 requests, slowest after ${most.toFixed(1)} s of the gateway's processor time, last after ${milliseconds(times.at(-1)!)}`,
      held: status === 200 && most < 4,
    };
  });
}
