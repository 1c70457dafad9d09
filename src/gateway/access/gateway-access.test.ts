import { createConnection } from "node:net";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import {
  chat,
  configOf,
  newFolder,
  SANDBOX,
  sharedGateway,
  startFaultyUpstream,
  startGateway,
} from "../gateway.fixture.ts";
import { addKey } from "./keys.ts";

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ANN = bearer("ann-ann-ann-ann-ann");
const BOB = bearer("bob-bob-bob-bob-bob");
const ADMIN = bearer("adm-adm-adm-adm-adm");

const gateway = sharedGateway(
  () => `${SANDBOX}
keys:
  ann: {key: ann-ann-ann-ann-ann}
  bob: {key: bob-bob-bob-bob-bob}
  boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}
  asks: {key: ask-ask-ask-ask-ask, scopes: [route]}
  reads: {key: rea-rea-rea-rea-rea, scopes: [metrics]}
  poor: {key: poo-poo-poo-poo-poo, budget: 0.000001}
  slow: {key: slo-slo-slo-slo-slo, rate: 2}
  duellist: {key: due-due-due-due-due, duels: true}`,
);

describe("keys", () => {
  it("are required once there is one, except for health checks", async () => {
    const { post, get } = gateway();
    for (const path of ["/v1/chat/completions", "/v1/feedback", "/v1/route", "/v1/embeddings"]) {
      const { status, json } = await post(path, chat("hi"));
      expect([path, status, json.error.type]).toEqual([path, 401, "authentication_error"]);
    }
    for (const path of ["/v1/models", "/v1/decisions", "/v1/stats", "/metrics", "/v1/admin/keys"]) {
      expect([path, (await get(path)).status]).toEqual([path, 401]);
    }
    for (const path of ["/healthz", "/readyz", "/openapi.json"]) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
    const wrong = await post("/v1/chat/completions", chat("hi"), bearer("nobody"));
    expect([wrong.status, wrong.json.error.code]).toEqual([401, "invalid_api_key"]);
  });

  it("are checked before the body is read", async () => {
    const { port } = new URL(gateway().url);
    // The body is never sent.
    const headers = { host: "localhost", "content-length": "100", ...bearer("nobody") };
    expect(await rawStatus(Number(port), "POST /v1/chat/completions", headers)).toBe(401);
  });

  it("allow what their scopes name", async () => {
    const { post, get } = gateway();
    const asks = bearer("ask-ask-ask-ask-ask");
    const { json, status } = await post("/v1/chat/completions", chat("hi"), asks);
    expect(status).toBe(200);
    const vote = await post("/v1/feedback", { id: json.id, rating: 1 }, asks);
    expect([vote.status, vote.json.error.code]).toEqual([403, "insufficient_scope"]);
    // A key with the scope vote alone could vote on no decision.
    expect(vote.json.error.hint).toContain("`joust keys add NAME --scopes route,vote`");
    expect((await get("/metrics", asks)).json.error.hint).toContain("--scopes metrics`");
    expect((await get("/metrics", ADMIN)).text).toContain("joust_requests_total");
    // Counts by model would tell a voter which models answered a duel.
    for (const path of ["/metrics", "/v1/stats", "/v1/learning"]) {
      const reads = bearer("rea-rea-rea-rea-rea");
      const statuses = [ANN, asks, reads, ADMIN].map(async (key) => (await get(path, key)).status);
      expect([path, await Promise.all(statuses)]).toEqual([path, [403, 403, 200, 200]]);
    }
    expect((await get("/v1/tradeoff", ANN)).status).toBe(200);
  });

  it("do not give access to decisions of other keys", async () => {
    const { post, get } = gateway();
    const { json } = await post(
      "/v1/chat/completions",
      chat("a secret of ann", { joust: { session_id: "s" } }),
      ANN,
    );
    const { decision_id: id } = json.joust;
    const own = await get(`/v1/decisions/${id}`, ANN);
    expect(own.json.id).toBe(id);
    const foreign = await get(`/v1/decisions/${id}`, BOB);
    const none = await get("/v1/decisions/no-such-thing", BOB);
    expect([foreign.status, foreign.text]).toEqual([404, none.text]);
    const listed = async (key: object) =>
      (await get("/v1/decisions?limit=200", key as typeof ANN)).text.includes(id);
    expect([await listed(ANN), await listed(BOB), await listed(ADMIN)]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await get("/v1/decisions?session_id=s", BOB)).json.data).toEqual([]);
    const vote = await post("/v1/feedback", { id, rating: 1 }, BOB);
    const unknown = await post("/v1/feedback", { id: "no-such-thing", rating: 1 }, BOB);
    expect([vote.status, vote.text]).toEqual([404, unknown.text]);
    expect((await post("/v1/feedback", { id, rating: 1 }, ANN)).json.status).toBe("logged");
  });

  it("can be replaced by a vote token, for one decision", async () => {
    const { post } = gateway();
    const { json } = await post("/v1/chat/completions", chat("hi"), ANN);
    const { decision_id: id, vote_token } = json.joust;
    expect((await post("/v1/feedback", { id, rating: 0.5, vote_token })).json.status).toBe(
      "logged",
    );
    const forged = `${vote_token.slice(0, -2)}xx`;
    expect((await post("/v1/feedback", { id, rating: 0.5, vote_token: forged })).status).toBe(403);
  });

  it("have a budget; once it is exceeded, requests are refused with a hint", async () => {
    const { post } = gateway();
    const poor = bearer("poo-poo-poo-poo-poo");
    expect((await post("/v1/chat/completions", chat("hi"), poor)).status).toBe(200);
    const { status, json, headers } = await post("/v1/chat/completions", chat("hi"), poor);
    expect([status, json.error.type]).toEqual([429, "insufficient_quota"]);
    expect(json.error.message).toMatch(/has spent \$0\.0/);
    expect(json.error.hint).toMatch(/^raise keys\.poor\.budget in joust/);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    // Requests to a model by its name count too.
    const direct = await post("/v1/chat/completions", chat("hi", { model: "summit-pro" }), poor);
    expect(direct.status).toBe(429);
    // OpenAI's clients retry twice unless this header forbids it.
    expect(headers.get("x-should-retry")).toBe("false");
  });

  it("have a rate limit", async () => {
    const { get } = gateway();
    const slow = bearer("slo-slo-slo-slo-slo");
    for (let i = 0; i < 2; i++) expect((await get("/v1/models", slow)).status).toBe(200);
    const { status, json, headers } = await get("/v1/models", slow);
    expect([status, json.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("can have duels for all their requests, whose second answers only they may fetch", async () => {
    const { post, get } = gateway();
    const duellist = bearer("due-due-due-due-due");
    const { json } = await post("/v1/chat/completions", chat("hi"), duellist);
    expect(json.choices).toHaveLength(1);
    expect(json.joust.duel).toBe("later");
    const path = `/v1/decisions/${json.joust.decision_id}/second`;
    expect((await get(path)).status).toBe(401);
    expect((await get(path, bearer("ann-ann-ann-ann-ann"))).json.error.code).toBe(
      "decision_not_found",
    );
    const token = { "x-joust-vote-token": json.joust.vote_token };
    expect((await get(path, { "x-joust-vote-token": json.joust.vote_token.slice(4) })).status).toBe(
      403,
    );
    const second = await get(path, token);
    expect(second.json.choices).toHaveLength(1);
    for (const key of [duellist, ADMIN]) expect((await get(path, key)).text).toBe(second.text);
  });

  it("are created and revoked while the gateway runs", async () => {
    const { post, get } = gateway();
    const made = await post("/v1/admin/keys", { name: "new", budget: 3 }, ADMIN);
    expect(made.json).toMatchObject({ name: "new", scopes: ["route", "vote"], budget: 3 });
    const key = bearer(made.json.secret);
    expect((await get("/v1/models", key)).status).toBe(200);
    const list = await get("/v1/admin/keys", ADMIN);
    expect(list.text).toContain('"new"');
    expect(list.text).not.toContain(made.json.secret);
    expect(list.text).not.toContain("hash");
    expect((await post(`/v1/admin/keys/${made.json.id}/revoke`, "", ADMIN)).status).toBe(200);
    expect((await get("/v1/models", key)).status).toBe(401);
  });

  it("never appear in the log", () => {
    const { lines } = gateway();
    expect(lines.length).toBeGreaterThan(20);
    for (const secret of ["ann-ann", "adm-adm", "jst_", "Bearer", "a secret of ann"]) {
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
  });
});

it("a used up budget stays used up after a restart", async () => {
  const yaml = `${SANDBOX}\nkeys: {poor: {key: poo-poo-poo-poo-poo, budget: 0.000001}}`;
  const poor = { authorization: "Bearer poo-poo-poo-poo-poo" };
  const folder = newFolder();
  const first = await startGateway(yaml, { folder });
  expect((await first.post("/v1/chat/completions", chat("Why?"), poor)).status).toBe(200);
  await first.close();
  const second = await startGateway(yaml, { folder });
  const refused = await second.post("/v1/chat/completions", chat("Why?"), poor);
  expect([refused.status, refused.json.error.code]).toEqual([429, "insufficient_quota"]);
});

it("limits votes without a key by the address that a trusted proxy names", async () => {
  const keys = "keys: {k: {key: key-0123456789abc}}";
  const trusting = `${SANDBOX}\n${keys}\nserver: {trusted_proxies: [127.0.0.0/8]}`;
  const vote = { id: "x", winner: 0, vote_token: "none" };
  const refusedOf = async (yaml: string, address: (i: number) => string) => {
    const { post } = await startGateway(yaml, { folder: newFolder() });
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) {
      const headers = { "x-forwarded-for": address(i) };
      statuses.push((await post("/v1/feedback", vote, headers)).status);
    }
    return statuses.filter((status) => status === 429).length;
  };
  expect(await refusedOf(trusting, (i) => `203.0.113.${i}`)).toBe(0);
  expect(await refusedOf(trusting, () => "203.0.113.1")).toBeGreaterThan(0);
  // A client of IPv6 has all addresses of a /64.
  expect(await refusedOf(trusting, (i) => `2001:db8:0:${i}::1`)).toBe(0);
  expect(await refusedOf(trusting, (i) => `2001:db8::${i}`)).toBeGreaterThan(0);
  // Without a trusted proxy the header is ignored, because any client can write it.
  expect(await refusedOf(`${SANDBOX}\n${keys}`, (i) => `203.0.113.${i}`)).toBeGreaterThan(0);
  const wrong = startGateway(`${SANDBOX}\nserver: {trusted_proxies: [10.0.0.0/99]}`);
  await expect(wrong).rejects.toThrow(errorText(/server\.trusted_proxies\.0.*10\.0\.0\.0\/99/));
});

describe("a budget", () => {
  const keys = "keys: {k: {key: key-0123456789abc, budget: 1}}";
  const key = bearer("key-0123456789abc");

  it("is exceeded by one request at most, however many come at once", async () => {
    const host = await startFaultyUpstream();
    // 11 tokens cost about two dollars.
    const { post, store, log } = await startGateway(
      `${keys}
providers: {p: {url: "${host.url("slowFirstByte")}"}}
models: {m: {provider: p, price: {input: 180000, output: 200000}}}`,
    );
    for (const model of ["auto", "m"]) {
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const { status } = await post("/v1/chat/completions", chat("hi", { model }), key);
          return status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(model === "auto" ? 1 : 0);
    }
    await log.flush();
    const month = new Date().toISOString().slice(0, 7);
    expect(await store.spent("config:k", month)).toBeLessThan(3);
  });

  it("excludes models without a price, unless their cost may be estimated", async () => {
    const host = await startFaultyUpstream();
    const yaml = (unpriced: string) => `${keys}
server: {unpriced: ${unpriced}}
providers: {p: {url: "${host.url("well")}"}}
models: {free: {provider: p}, paid: {provider: p, price: {input: 1, output: 1}}}`;
    const strict = await startGateway(yaml("refuse"));
    for (let i = 0; i < 5; i++) {
      const { headers } = await strict.post("/v1/chat/completions", chat(`hi ${i}`), key);
      expect(headers.get("x-joust-model")).toBe("paid");
    }
    const named = await strict.post("/v1/chat/completions", chat("hi", { model: "free" }), key);
    expect([named.status, named.json.error.code]).toEqual([403, "unpriced_model"]);
    const lenient = await startGateway(yaml("estimate"));
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      const { status } = await lenient.post(
        "/v1/chat/completions",
        chat("hi", { model: "free" }),
        key,
      );
      statuses.push(status);
    }
    // Each counts 30 cents.
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });
});

describe("without keys", () => {
  it("the gateway serves only this machine", async () => {
    const open = startGateway(`${SANDBOX}\nserver: {host: 0.0.0.0}`, { folder: newFolder() });
    await expect(open).rejects.toThrow(
      errorText(/server\.host.*there is no API key; hint: create a key first, .*: joust keys add/),
    );
  });

  it("the gateway serves only this machine after a reload too", async () => {
    const server = "server: {host: 0.0.0.0}";
    const keys = "keys: {boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}}";
    const { reload, get, post } = await startGateway(`${SANDBOX}\n${server}\n${keys}`);
    const refused = errorText(
      /server\.host.*is 0\.0\.0\.0.*there is no API key; hint: create a key/,
    );
    // The server listens on the host of the start until it is restarted.
    for (const next of [server, "server: {host: 127.0.0.1}"]) {
      await expect(reload(configOf(`${SANDBOX}\n${next}`))).rejects.toThrow(refused);
      expect((await get("/v1/admin/keys")).status).toBe(401);
      expect((await get("/v1/admin/keys", ADMIN)).status).toBe(200);
    }
    const made = await post("/v1/admin/keys", { name: "a", scopes: ["admin"] }, ADMIN);
    await reload(configOf(`${SANDBOX}\n${server}`));
    expect((await get("/v1/admin/keys", ADMIN)).status).toBe(401);
    // After the last key was revoked, nobody is admitted.
    const own = bearer(made.json.secret);
    expect((await post(`/v1/admin/keys/${made.json.id}/revoke`, "", own)).status).toBe(200);
    for (const key of [{}, own]) expect((await get("/v1/admin/keys", key)).status).toBe(401);
  });

  it("the gateway refuses requests through a proxy until there is a key", async () => {
    const gateway = await startGateway(SANDBOX, { folder: newFolder() });
    const names = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];
    const ask = (name: string, key = {}) =>
      gateway.get("/v1/models", { [name]: "203.0.113.7", ...key });
    for (const name of names) {
      const refused = await ask(name);
      expect([refused.status, refused.json.error.code]).toEqual([403, "forwarded_request"]);
      expect(refused.json.error.hint).toContain("joust keys add");
      const admin = await gateway.post("/v1/admin/keys", { name: "x" }, { [name]: "x" });
      expect(admin.status).toBe(403);
    }
    // nginx without further settings adds no header.
    const port = Number(new URL(gateway.url).port);
    const nginx = { host: `localhost:${port}` };
    expect(await rawStatus(port, "GET /v1/admin/keys", nginx, "1.1")).toBe(200);
    expect(await rawStatus(port, "GET /v1/admin/keys", nginx, "1.0")).toBe(403);
    const made = await gateway.post("/v1/admin/keys", { name: "mine", scopes: ["admin"] });
    const key = { authorization: `Bearer ${made.json.secret}` };
    for (const name of names) expect((await ask(name, key)).status).toBe(200);
  });

  it("the gateway serves requests through a proxy soon after another process has created a key", async () => {
    const { get, store } = await startGateway(SANDBOX, { folder: newFolder() });
    const ask = () => get("/healthz", { "x-forwarded-for": "203.0.113.7" });
    expect((await ask()).status).toBe(403);
    await addKey(store, { name: "mine", scopes: ["admin"] }, Date.now());
    // No other request makes the gateway read the keys.
    await expect.poll(async () => (await ask()).status).toBe(200);
  });

  it("the gateway refuses pages of other sites, whatever host they use", async () => {
    const { url } = await startGateway(SANDBOX);
    const { port } = new URL(url);
    const ask = (headers: Record<string, string>) =>
      rawStatus(Number(port), "GET /v1/models", {
        host: `localhost:${port}`,
        ...headers,
      });
    expect(await ask({})).toBe(200);
    expect(await ask({ origin: `http://localhost:${port}` })).toBe(200);
    expect(await ask({ origin: "https://evil.example" })).toBe(403);
    expect(await ask({ origin: "null" })).toBe(403);
    expect(await ask({ host: "evil.example" })).toBe(403);
    expect(await ask({ host: `127.0.0.1:${port}` })).toBe(200);
    // Browsers send no Origin with the requests of images, scripts and frames.
    const browser = (site: string, mode: string, dest: string) =>
      ask({ "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest });
    for (const site of ["cross-site", "same-site"]) {
      expect(await browser(site, "no-cors", "image")).toBe(403);
      expect(await browser(site, "navigate", "iframe")).toBe(403);
      expect(await browser(site, "navigate", "document")).toBe(200);
    }
    expect(await browser("same-origin", "cors", "empty")).toBe(200);
    expect(await browser("none", "navigate", "document")).toBe(200);
  });
});

/** Sends headers that fetch does not allow. */
function rawStatus(
  port: number,
  target: string,
  headers: Record<string, string>,
  version = "1.1",
): Promise<number> {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((found, fail) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.write(`${target} HTTP/${version}\r\n${head.join("")}connection: close\r\n\r\n`);
    });
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("end", () => found(Number(text.split(" ")[1])));
    socket.on("error", fail);
  });
}
