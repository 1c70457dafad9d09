import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "../gateway-process.ts";
import { withGateway } from "../gateway-process.ts";
import { post } from "../http.ts";
import { processorSeconds } from "../process-stats.ts";
import { type Attack, bearer, chat, health, KEY, milliseconds } from "./attack.ts";

/** Attacks by what a model answers. */
export const ANSWER_ATTACKS: readonly Attack[] = [
  {
    item: "14c",
    attack: "a client's schema has the pattern ^(a+)+$, signals.schema_failed is set",
    before: "the process was blocked for as long as the client wanted",
    run: () =>
      withAnswer(
        { choices: [choiceOf(JSON.stringify(`${"a".repeat(40)}!`))] },
        "signals: {schema_failed: true}",
        "",
        slowSchemas,
      ),
  },
  {
    item: "14h",
    attack:
      "both models of a duel and their fallback charge 0.5 dollars and fail, budget of 1 dollar",
    before: "the cost of the duel was not counted: another duel was paid",
    run: () =>
      withAnswer(
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.5 } },
        "explore: 0",
        "budget: 1",
        chargedDuels,
      ),
  },
];

function choiceOf(content: string) {
  return { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
}

/** A gateway with three models, which all give one answer. */
async function withAnswer<T>(
  answer: object,
  settings: string,
  limits: string,
  work: (gateway: GatewayProcess, calls: () => number) => Promise<T>,
): Promise<T> {
  let calls = 0;
  const body = JSON.stringify({ id: "x", object: "chat.completion", created: 1, ...answer });
  const upstream = createServer((request, response) => {
    calls++;
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
  });
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  const { port } = upstream.address() as AddressInfo;
  const model = "{provider: p, retries: 0, price: {input: 1, output: 1}}";
  const yaml = `keys: {mallory: {key: ${[KEY, limits].filter(Boolean).join(", ")}}}
providers: {p: {url: "http://127.0.0.1:${port}/v1"}}
models: {a: ${model}, b: ${model}, c: ${model}}
routers: {auto: {models: [a, b, c], ${settings}}}`;
  try {
    return await withGateway(yaml, (gateway) => work(gateway, () => calls));
  } finally {
    upstream.close();
    upstream.closeAllConnections();
  }
}

async function slowSchemas({ url, pid }: GatewayProcess) {
  const text = { type: "string", pattern: "^(a+)+$" };
  const schemas = [
    text,
    { anyOf: [text, { type: "null" }] },
    { type: "string", format: "emoji" },
    { $defs: { t: text }, $ref: "#/$defs/t" },
  ];
  const properties = Object.fromEntries(
    Array.from({ length: 1900 }, (_, i) => [`p${i}`, { type: "string" }]),
  );
  const statuses = new Set<number>();
  const times: (number | undefined)[] = [];
  const before = await processorSeconds(pid);
  for (const schema of [...schemas, { type: "object", properties }]) {
    const format = { type: "json_schema", json_schema: { name: "x", schema } };
    const body = chat("hi", { response_format: format });
    statuses.add((await post(`${url}/v1/chat/completions`, body, bearer(KEY))).status);
    // The check begins after the answer.
    await sleep(50);
    times.push(await health(url));
  }
  const answered = times.filter((time) => time !== undefined);
  const seconds = (await processorSeconds(pid)) - before;
  return {
    now: `${[...statuses].join(", ")}; ${answered.length} of ${times.length} health checks, slowest ${milliseconds(Math.max(...answered))}; ${seconds.toFixed(2)} s of processor time`,
    held: answered.length === times.length && seconds < 2,
  };
}

async function chargedDuels({ url }: GatewayProcess, calls: () => number) {
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const body = chat("hi", { joust: { duel: true } });
    statuses.push((await post(`${url}/v1/chat/completions`, body, bearer(KEY))).status);
  }
  return {
    now: `${calls()} calls for ${(calls() / 2).toFixed(1)} dollars; then ${statuses.at(-1)}`,
    held: calls() === 3 && statuses.slice(1).every((status) => status === 429),
  };
}
