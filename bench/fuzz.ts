import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { Random } from "../src/core/random/random.ts";
import { type Schema, valuesOf } from "../src/gateway/server/schema.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { mutated } from "./fuzz/mutate.ts";
import { type GatewayProcess, withGateway } from "./gateway-process.ts";
import { post, send } from "./http.ts";
import { median } from "./median.ts";
import { memory } from "./process-stats.ts";

const REQUESTS = 200_000;
/** So many that the sandbox's voters, who send up to 256 requests at once, leave time for these. */
const CLIENTS = 128;
/** Number of requests between two samples of memory under load. */
const SAMPLE = 100;
/** Time after the last request in which idle connections are closed. */
const REST_MS = 45_000;
/** Makes V8 accept the command to collect garbage. */
const INSPECTED = { env: { NODE_OPTIONS: "--inspect=127.0.0.1:0" } };
/** Valid bodies of each operation that mutations start from. */
const SEEDS = 60;
const KEYS = { boss: "adm-adm-adm-adm-adm", ann: "ann-ann-ann-ann-ann" };
const YAML = `sandbox: {speed: 1000}
server: {log: error}
keys: {boss: {key: ${KEYS.boss}, scopes: [admin]}, ann: {key: ${KEYS.ann}}}
routers: {auto: {}, other: {models: [summit-pro, abacus-14b]}}
`;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly statuses: ReadonlySet<string>;
  readonly hasDefault: boolean;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly bodies: readonly string[];
}

/**
 * Sends mutated requests to all endpoints of a gateway process. No response may be a 500, have a
 * status that is not documented, or be missing; and memory must not grow in the second half. Memory
 * is compared at rest and after a collection, because V8 keeps the pages of collected objects, and
 * under load the sandbox's voters, which requests switch on and off, take more than the requests.
 */
export function fuzz(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const requests = flags.rounds ?? REQUESTS;
  return withGateway(
    YAML,
    async (gateway) => {
      const { url, pid } = gateway;
      const operations = await operationsOf(url);
      const words = ["auto", "other", "summit-pro", "config:ann", await decisionOf(url)];
      const found = new Map<string, string>();
      const counts = new Map<number, number>();
      const half = async (part: string, from: number, to: number) => {
        let next = from;
        const lastTenth = to - (to - from) / 10;
        const loaded: number[] = [];
        const work = async (client: number) => {
          const random = Random.seeded(1).split(`${part} ${client}`);
          while (next < to) {
            const n = next++;
            if (n % SAMPLE === 0) {
              const megabytes = await memory(pid);
              if (n >= lastTenth) loaded.push(megabytes);
              if (n % 10_000 === 0) process.stderr.write(`${n} requests, ${megabytes} MB\n`);
            }
            const problem = await attempt(url, operations, words, random, counts);
            if (!problem || found.has(problem.kind)) continue;
            found.set(problem.kind, problem.text);
            process.stderr.write(`${problem.kind}: ${problem.text}\n`);
          }
        };
        await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
        await post(`${url}/v1/sandbox/voters`, { on: false }, bearer(KEYS.boss));
        return { loaded: median(loaded), rest: await memoryAtRest(gateway) };
      };
      const before = await half("first half", 0, requests / 2);
      const after = await half("second half", requests / 2, requests);
      const health = await send(`${url}/healthz`);
      return {
        ratios: {
          "memory, after / before the second half": after.rest / before.rest,
          "kinds of wrong responses": found.size,
          "healthy afterwards": health.status === 200 ? 1 : 0,
        },
        figures: {
          requests,
          operations: operations.length,
          "memory MB before the second half": before.rest,
          "memory MB after it": after.rest,
          "memory MB in the last tenth of the first half": before.loaded,
          "memory MB in the last tenth of the second half": after.loaded,
          ...Object.fromEntries([...counts].map(([status, count]) => [`status ${status}`, count])),
        },
      };
    },
    INSPECTED,
  );
}

/** Resident MB after idle connections were closed and garbage was collected. */
async function memoryAtRest({ pid, output }: GatewayProcess): Promise<number> {
  await sleep(REST_MS);
  await collectGarbage(/ws:\S+/.exec(output())![0]);
  const samples: number[] = [];
  for (let second = 0; second < 10; second++) {
    await sleep(1000);
    samples.push(await memory(pid));
  }
  return median(samples);
}

/** Collects the garbage of a process's main thread and returns its free pages to the system. */
async function collectGarbage(inspector: string): Promise<void> {
  const socket = new WebSocket(inspector);
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
  await once(socket, "message");
  socket.close();
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Id of a decision that exists. */
async function decisionOf(url: string): Promise<string> {
  const body = { model: "auto", messages: [{ role: "user", content: "hi" }] };
  const { headers } = await post(`${url}/v1/chat/completions`, body, bearer(KEYS.ann));
  return String(headers["x-joust-decision-id"]);
}

/** All operations of /openapi.json but the stream that does not end, with valid bodies. */
async function operationsOf(url: string): Promise<Operation[]> {
  const { paths } = JSON.parse((await send(`${url}/openapi.json`)).text) as Description;
  return Object.entries(paths).flatMap(([path, methods]) =>
    path === "/v1/events"
      ? []
      : Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => {
          const schema = requestBody?.content["application/json"].schema ?? {};
          const values = fc.sample(valuesOf(schema), { numRuns: SEEDS, seed: 1 });
          const statuses = new Set(Object.keys(responses));
          const bodies = values.map((value) => JSON.stringify(routed(value)));
          const hasDefault = statuses.has("default");
          return { method: method.toUpperCase(), path, statuses, hasDefault, parameters, bodies };
        }),
  );
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { content: { "application/json": { schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** A body that names a router, so that more of it is read. */
function routed(value: unknown): unknown {
  return typeof value === "object" && value !== null && "model" in value
    ? { ...value, model: "auto" }
    : value;
}

async function attempt(
  url: string,
  operations: readonly Operation[],
  words: readonly string[],
  random: Random,
  counts: Map<number, number>,
): Promise<{ readonly kind: string; readonly text: string } | undefined> {
  const pick = <T>(list: readonly T[]): T => list[random.integer(list.length)]!;
  const { method, path, statuses, hasDefault, parameters, bodies } = pick(operations);
  const word = () => mutated(pick(words), random);
  const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(word().slice(0, 300)) || "x");
  const query = parameters
    .filter((one) => one.in === "query" && random.integer(2) === 0)
    .map(
      ({ name }) =>
        `${name}=${encodeURIComponent(random.integer(2) ? word() : `${random.integer(100)}`)}`,
    );
  const headers = pick([bearer(KEYS.boss), bearer(KEYS.ann), bearer(KEYS.ann), {}]);
  const body = mutated(pick(bodies), random);
  const target = `${url}${filled}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const options = { method, headers, timeoutMs: 60_000, ...(method === "POST" && { body }) };
  const text = () => `${method} ${target.slice(url.length)} ${body.slice(0, 1000)}`;
  try {
    const { status, text: answer } = await send(target, options);
    counts.set(status, (counts.get(status) ?? 0) + 1);
    const isKnown = statuses.has(String(status)) || hasDefault;
    if (status === 500 || status === 501 || !isKnown) {
      return { kind: `${status} of ${method} ${path}`, text: `${text()} -> ${answer}` };
    }
    if (status >= 400 && !answer.includes('"error"')) {
      return { kind: `error without a body of ${method} ${path}`, text: `${text()} -> ${answer}` };
    }
    return undefined;
  } catch (error) {
    return { kind: `no response of ${method} ${path}`, text: `${text()}: ${error}` };
  }
}
