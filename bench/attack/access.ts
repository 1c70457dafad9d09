import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "../gateway-process.ts";
import { withGateway } from "../gateway-process.ts";
import { post, send } from "../http.ts";
import { type Attack, chat, SANDBOX } from "./attack.ts";
import { withFaultyUpstream } from "./faulty-upstream.ts";

export const ACCESS_ATTACKS: readonly Attack[] = [
  {
    item: "12",
    attack: "requests through a proxy while there is no key",
    before: "admin rights",
    run: () => withGateway(SANDBOX, proxied),
  },
  {
    item: "13a",
    attack: "SIGTERM while a load balancer still sends requests",
    before: "refused at once",
    run: () =>
      withFaultyUpstream((upstream) =>
        withGateway(
          `server: {shutdown_delay_seconds: 3}
providers: {well: {url: "${upstream.url("well")}"}}
models: {a: {provider: well}}`,
          sigterm,
        ),
      ),
  },
  {
    item: "13f",
    attack: "known paths with the wrong method",
    before: "404",
    run: () => withGateway(SANDBOX, wrongMethods),
  },
];

async function proxied({ url }: GatewayProcess) {
  const headers: Readonly<Record<string, string>>[] = [
    { "x-forwarded-for": "203.0.113.9" },
    { forwarded: "for=203.0.113.9" },
    { via: "1.1 proxy" },
    { "x-real-ip": "203.0.113.9" },
    { "x-forwarded-host": "localhost" },
    { "x-forwarded-proto": "https" },
    { "cf-connecting-ip": "203.0.113.9" },
    { "true-client-ip": "203.0.113.9" },
    { host: "joust.example.org" },
    { origin: "https://evil.example.org" },
  ];
  const admitted: string[] = [];
  let hint = "";
  for (const one of headers) {
    const create = await post(`${url}/v1/admin/keys`, { name: "evil" }, one);
    const ask = await post(`${url}/v1/chat/completions`, chat("hi"), one);
    if (create.status !== 403 || ask.status !== 403) admitted.push(Object.keys(one)[0]!);
    else hint ||= JSON.parse(create.text).error.hint ?? "";
  }
  const open = await send(`${url}/v1/admin/keys`);
  return {
    now: `${headers.length - admitted.length} of ${headers.length} forms refused with 403${admitted.length > 0 ? `, admitted with ${admitted}` : ""}; hint: ${hint}`,
    held: admitted.length === 0 && open.status === 200,
  };
}

async function sigterm({ url, signal }: GatewayProcess) {
  signal("SIGTERM");
  await sleep(500);
  const ready = await send(`${url}/readyz`, { from: "127.0.0.1" });
  const answers = [];
  for (let i = 0; i < 5; i++) {
    const request = { method: "POST", body: JSON.stringify(chat("hi")), from: "127.0.0.1" };
    answers.push((await send(`${url}/v1/chat/completions`, request)).status);
  }
  return {
    now: `/readyz ${ready.status}, requests on new connections ${[...new Set(answers)].join(", ")}`,
    held: ready.status === 503 && answers.every((status) => status === 200),
  };
}

async function wrongMethods({ url }: GatewayProcess) {
  const wrong = [
    ["GET", "/v1/chat/completions"],
    ["DELETE", "/v1/models"],
    ["PUT", "/v1/feedback"],
    ["POST", "/v1/stats"],
    ["PATCH", "/v1/admin/keys"],
    ["POST", "/healthz"],
  ] as const;
  const statuses: number[] = [];
  for (const [method, path] of wrong)
    statuses.push((await send(`${url}${path}`, { method })).status);
  return {
    now: `${[...new Set(statuses)].join(", ")}`,
    held: statuses.every((status) => status === 405),
  };
}
