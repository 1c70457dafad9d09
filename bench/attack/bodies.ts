import { setTimeout as sleep } from "node:timers/promises";
import { withGateway } from "../gateway-process.ts";
import { send } from "../http.ts";
import { memory, processorSeconds } from "../process-stats.ts";
import { type Attack, bearer, health, KEY, KEYS, milliseconds, SANDBOX } from "./attack.ts";
import { type FaultyUpstream, withFaultyUpstream } from "./faulty-upstream.ts";

const LARGE = 17_500_000;

export const BODY_ATTACKS: readonly Attack[] = [
  {
    item: "2",
    attack: "one vote of 17.5 MB without a key",
    before: "7.2 s of processor time, health check blocked",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, (gateway) => keyless(gateway, 1)),
  },
  {
    item: "2",
    attack: "60 votes of 17.5 MB without a key at a time",
    before: "1.3 GB",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, (gateway) => keyless(gateway, 60)),
  },
  {
    item: "2",
    attack: "20 of the largest prompts, 500,000 values in 20 MB",
    before: "the event loop blocked for each",
    run: () => withFaultyUpstream(largestPrompts),
  },
];

/** JSON of many small values, which costs more to parse than text. */
function manyValues(bytes: number): Buffer {
  const start = '{"id":"x","winner":0,"more":[';
  return Buffer.from(`${start}${"{},".repeat((bytes - start.length) / 3 - 2)}0]}`);
}

async function keyless(
  { url, pid }: { readonly url: string; readonly pid: number },
  count: number,
) {
  const body = manyValues(LARGE);
  const [seconds, megabytes] = [await processorSeconds(pid), await memory(pid)];
  let isRunning = true;
  const checks: Promise<number[]> = (async () => {
    const times: number[] = [];
    while (isRunning) times.push((await health(url)) ?? Infinity);
    return times;
  })();
  const statuses = await Promise.all(
    Array.from({ length: count }, () =>
      send(`${url}/v1/feedback`, { method: "POST", body, from: "127.0.0.1" }).then(
        ({ status }) => status,
        // The gateway may close the connection before all bytes were sent.
        () => 0,
      ),
    ),
  );
  isRunning = false;
  const slowest = Math.max(...(await checks));
  const used = (await processorSeconds(pid)) - seconds;
  const grown = (await memory(pid, "VmHWM")) - megabytes;
  return {
    now: `${[...new Set(statuses)].join(", ")}; ${used.toFixed(2)} s of processor time, +${grown.toFixed(0)} MB, slowest health check ${milliseconds(slowest)}`,
    held: !statuses.includes(200) && used < 0.1 * count + 0.4 && grown < 100 && slowest < 2000,
  };
}

function largestPrompts(upstream: FaultyUpstream) {
  const yaml = `${KEYS}
providers: {well: {url: "${upstream.url("well")}"}}
models: {a: {provider: well, price: {input: 1, output: 1}}, b: {provider: well, price: {input: 1, output: 1}}}`;
  // 499,000 values: just below the limit.
  const filler = "x".repeat(2000);
  const parts = `${"{},".repeat(498_000)}"${filler.repeat(9000)}"`;
  const body = Buffer.from(
    `{"model":"auto","messages":[{"role":"user","content":"hi"}],"more":[${parts}]}`,
  );
  return withGateway(yaml, async ({ url }) => {
    const before = await checks(url, () => sleep(3000));
    const statuses = new Set<number>();
    const during = await checks(url, async () => {
      for (let i = 0; i < 20; i++) {
        const headers = bearer(KEY);
        const request = { method: "POST", body, headers, timeoutMs: 60_000 };
        statuses.add((await send(`${url}/v1/chat/completions`, request)).status);
      }
    });
    return {
      now: `${[...statuses].join(", ")}; health checks: expected wait ${milliseconds(during.wait)}, slowest ${milliseconds(during.slowest)} (without the attack ${milliseconds(before.wait)} and ${milliseconds(before.slowest)})`,
      held: statuses.has(200) && statuses.size === 1 && during.wait < 3 * before.wait + 100,
    };
  });
}

/**
 * Health checks that are sent one after the other during the work: the slowest, and the expected wait of
 * a request that arrives at any time. A thread that is blocked for 400 ms now and then does not
 * change the median, but this wait.
 */
async function checks(url: string, work: () => Promise<unknown>) {
  const times: number[] = [];
  let isRunning = true;
  const checking = (async () => {
    while (isRunning) {
      times.push((await health(url)) ?? Infinity);
      await sleep(5);
    }
  })();
  await work();
  isRunning = false;
  await checking;
  const sum = times.reduce((total, time) => total + time, 0);
  const squares = times.reduce((total, time) => total + time ** 2, 0);
  return { wait: squares / (2 * sum), slowest: Math.max(...times) };
}
