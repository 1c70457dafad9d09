import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "../gateway-process.ts";
import { withGateway } from "../gateway-process.ts";
import { post, send } from "../http.ts";
import {
  ADMIN,
  type Attack,
  bearer,
  chat,
  hold,
  KEY,
  KEYS,
  milliseconds,
  OTHER_KEY,
  releaseAll,
  SANDBOX,
} from "./attack.ts";

/** Attacks on API keys and their limits. */
export const KEY_ATTACKS: readonly Attack[] = [
  {
    item: "14a",
    attack: "the last key is removed from joust.yaml while the gateway serves other machines",
    before: "everybody who sent `Host: localhost` was an admin",
    run: () => withGateway(`${SANDBOX}\n${SERVER}\n${KEYS}`, removedKeys),
  },
  {
    item: "14b",
    attack: "30 keys are revoked while their limits are changed",
    before: "a key could be valid again",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, revokedAndChanged),
  },
  {
    item: "14d",
    attack: "a page of another site loads images, scripts and frames, which have no Origin",
    before: "admitted; such a page could take all event streams",
    run: () => withGateway(SANDBOX, embedded),
  },
  {
    item: "14e",
    attack: "the event stream of a key that is revoked",
    before: "all events until the client disconnects",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, streamOfRevoked),
  },
  {
    item: "14f",
    attack: "a key with a list of one model looks for the names of others",
    before:
      "names, prices and states of all models in /v1/models/{id}, pools, decisions and errors",
    run: () => withGateway(`${SANDBOX}\n${LIMITED}`, hiddenModels),
  },
  {
    item: "14f",
    attack: "the same key asks a router in mode bypass, whose fallback is another model",
    before: "answered by the fallback",
    run: () =>
      withGateway(
        `${SANDBOX}\n${LIMITED}\nrouters: {auto: {mode: bypass, fallback: summit-pro}}`,
        bypass,
      ),
  },
  {
    item: "14g",
    attack: "100 half-sent sign-ins, 40 connections allowed",
    before: "nobody else was answered for 60 s",
    run: () => withGateway(`${SANDBOX}\n${KEYS}\nserver: {connections: 40}`, halfSentSignIns),
  },
];

const SERVER = "server: {host: 0.0.0.0}";
const LIMITED = `keys: {mallory: {key: ${KEY}, models: [pebble-mini], routers: [auto]}, another: {key: ${OTHER_KEY}}}`;

async function removedKeys({ url, output }: GatewayProcess, folder: string) {
  await writeFile(join(folder, "joust.yaml"), `${SANDBOX}\n${SERVER}\n`);
  const isRead = () => /previous configuration stays|configuration was reloaded/.test(output());
  for (let waited = 0; !isRead() && waited < 100; waited++) await sleep(100);
  const statuses: number[] = [];
  for (const host of ["localhost", "127.0.0.1", "joust.example.org"]) {
    statuses.push((await send(`${url}/v1/admin/keys`, { headers: { host } })).status);
  }
  const known = await send(`${url}/v1/admin/keys`, { headers: ADMIN });
  const isRefused = /previous configuration stays/.test(output());
  return {
    now: `reload ${isRefused ? "refused" : "accepted"}; without a key ${[...new Set(statuses)].join(", ")}, with the removed key ${known.status}`,
    held: isRefused && statuses.every((status) => status === 401) && known.status === 200,
  };
}

async function revokedAndChanged({ url }: GatewayProcess) {
  const count = 30;
  let valid = 0;
  for (let i = 0; i < count; i++) {
    const made = await post(`${url}/v1/admin/keys`, { name: `k${i}` }, ADMIN);
    const { id, secret } = JSON.parse(made.text);
    const key = `${url}/v1/admin/keys/${id}`;
    await Promise.all([
      ...[1, 2, 3].map((rate) => post(`${key}/limits`, { rate: 60 * rate }, ADMIN)),
      post(`${key}/revoke`, {}, ADMIN),
      ...[4, 5, 6].map((rate) => post(`${key}/limits`, { rate: 60 * rate }, ADMIN)),
    ]);
    const { status } = await send(`${url}/v1/models`, { headers: bearer(secret) });
    if (status !== 401) valid++;
  }
  return { now: `${valid} of ${count} still valid`, held: valid === 0 };
}

async function embedded({ url }: GatewayProcess) {
  const forms = [
    ["cross-site", "no-cors", "image"],
    ["cross-site", "no-cors", "script"],
    ["cross-site", "navigate", "iframe"],
    ["same-site", "no-cors", "image"],
    ["same-site", "navigate", "iframe"],
  ] as const;
  const paths = ["/v1/events", "/v1/models", "/v1/stats", "/v1/admin/keys"];
  let refused = 0;
  for (const [site, mode, target] of forms) {
    const headers = {
      "sec-fetch-site": site,
      "sec-fetch-mode": mode,
      "sec-fetch-dest": target,
    };
    for (const path of paths) {
      const { status } = await send(`${url}${path}`, { headers, timeoutMs: 3000 }).catch(() => ({
        status: 200,
      }));
      if (status === 403) refused++;
    }
  }
  const link = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const opened = await send(`${url}/v1/models`, { headers: link });
  const all = forms.length * paths.length;
  return {
    now: `${refused} of ${all} refused with 403; a link that is opened in a tab: ${opened.status}`,
    held: refused === all && opened.status === 200,
  };
}

/** An event stream, with a promise of the time at which the gateway ended it. */
async function openEvents(url: string, key: string) {
  const request = `GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`;
  const socket = await hold(url, request);
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  socket.on("data", (piece: Buffer) => {
    begun.resolve();
    // The last chunk of a response is empty.
    if (/(^|\r\n)0\r\n\r\n$/.test(piece.toString())) ended.resolve(performance.now());
  });
  socket.on("close", () => ended.resolve(performance.now()));
  socket.resume();
  await begun.promise;
  return { socket, ended: ended.promise };
}

async function streamOfRevoked({ url }: GatewayProcess) {
  const { text } = await post(`${url}/v1/admin/keys`, { name: "web" }, ADMIN);
  const streams = [
    await openEvents(url, JSON.parse(text).secret),
    await openEvents(url, OTHER_KEY),
  ] as const;
  const startedAt = performance.now();
  await post(`${url}/v1/admin/keys/web/revoke`, {}, ADMIN);
  const late = sleep(40_000, undefined, { ref: false });
  const endedAt = await Promise.race([streams[0].ended, late]);
  const other = await Promise.race([streams[1].ended, sleep(1000, "open")]);
  releaseAll(streams.map(({ socket }) => socket));
  return {
    now: `${endedAt === undefined ? "still open after 40 s" : `ended after ${milliseconds(endedAt - startedAt)}`}; the stream of another key ${other === "open" ? "goes on" : "ended"}`,
    held: endedAt !== undefined && other === "open",
  };
}

async function hiddenModels({ url }: GatewayProcess) {
  const all = await send(`${url}/v1/models`, { headers: bearer(OTHER_KEY) });
  const names: string[] = JSON.parse(all.text).data.map(({ id }: { id: string }) => id);
  const hidden = names.filter((name) => name !== "auto" && name !== "pebble-mini");
  const headers = bearer(KEY);
  const texts = [
    (await send(`${url}/v1/models`, { headers })).text,
    (await send(`${url}/v1/models/auto`, { headers })).text,
    (await send(`${url}/v1/models/unknown`, { headers })).text,
  ];
  for (const model of ["unknown", "", "auto", "claude-unknown"]) {
    texts.push((await post(`${url}/v1/chat/completions`, chat("hi", { model }), headers)).text);
  }
  texts.push((await post(`${url}/v1/route`, chat("hi"), headers)).text);
  const none = chat("hi", { joust: { allowed_models: ["unknown"] } });
  texts.push((await post(`${url}/v1/chat/completions`, none, headers)).text);
  texts.push((await send(`${url}/v1/decisions`, { headers })).text);
  const shown = texts.filter((text) =>
    hidden.some((name) => text.includes(`"${name}"`) || text.includes(` ${name},`)),
  );
  let found = 0;
  for (const name of hidden) {
    if ((await send(`${url}/v1/models/${name}`, { headers })).status !== 404) found++;
    const answer = await post(`${url}/v1/chat/completions`, chat("hi", { model: name }), headers);
    if (answer.status !== 403) found++;
  }
  return {
    now: `${shown.length} of ${texts.length} responses name one of the ${hidden.length} others; ${found} of these can be read or used`,
    held: shown.length === 0 && found === 0 && hidden.length > 0,
  };
}

async function bypass({ url }: GatewayProcess) {
  const ask = (key: string) => post(`${url}/v1/chat/completions`, chat("hi"), bearer(key));
  const [limited, other] = [await ask(KEY), await ask(OTHER_KEY)];
  return {
    now: `${limited.status}; another key: ${other.status}`,
    held: limited.status === 403 && other.status === 200,
  };
}

async function halfSentSignIns({ url }: GatewayProcess) {
  const head = "POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{";
  const sockets: Socket[] = [];
  for (let i = 0; i < 100; i++) {
    sockets.push(await hold(url, head, `127.0.0.${2 + (i % 20)}`));
    // A connection whose request has not arrived counts as idle, and would make room for the next one.
    await sleep(5);
  }
  const times: number[] = [];
  for (let i = 0; i < 10; i++) {
    const startedAt = performance.now();
    const reply = await send(`${url}/v1/chat/completions`, {
      method: "POST",
      from: "127.0.0.1",
      headers: bearer(KEY),
      body: JSON.stringify(chat("hi")),
      timeoutMs: 5000,
    }).catch(() => undefined);
    if (reply?.status === 200) times.push(performance.now() - startedAt);
  }
  releaseAll(sockets);
  return {
    now: `${times.length} of 10 requests with a key answered, slowest ${milliseconds(Math.max(0, ...times))}`,
    held: times.length === 10,
  };
}
