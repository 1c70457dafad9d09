import { expect, it } from "vitest";
import { serverEvents } from "../../client/server-events.ts";
import { chat, SANDBOX, sharedGateway, startGateway } from "../gateway.fixture.ts";

const gateway = sharedGateway(
  () => `${SANDBOX}
keys:
  boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}
  few: {key: few-few-few-few-few, models: [pebble-mini], routers: [auto]}
  some: {key: some-some-some-some, routers: [other], scopes: [route, metrics]}
routers: {auto: {}, other: {}}`,
);
const BOSS = { authorization: "Bearer adm-adm-adm-adm-adm" };
const FEW = { authorization: "Bearer few-few-few-few-few" };
const ask = (model: string, headers: Record<string, string>, more: object = {}) =>
  gateway().post("/v1/chat/completions", chat("Why?", { model, ...more }), headers);

it("a key with a list of models and routers can use no others", async () => {
  for (const name of ["other", "abacus-14b"]) {
    const { status, json } = await ask(name, FEW);
    expect([name, status, json.error.code]).toEqual([name, 403, "model_not_allowed"]);
    expect((await ask(name, BOSS)).status).toBe(200);
  }
  for (const name of ["auto", "pebble-mini"]) expect((await ask(name, FEW)).status).toBe(200);
  const { data } = (await gateway().get("/v1/models", FEW)).json;
  expect(data.map(({ id }: { id: string }) => id)).toEqual(["auto", "pebble-mini"]);
  for (const name of ["other", "abacus-14b"]) {
    const { status, json } = await gateway().get(`/v1/models/${name}`, FEW);
    expect([name, status, json.error.code]).toEqual([name, 404, "model_not_found"]);
    expect(json.error.hint).toBe("known names: auto, pebble-mini");
    expect((await gateway().get(`/v1/models/${name}`, BOSS)).json.id).toBe(name);
  }
  for (const name of ["auto", "pebble-mini"]) {
    expect((await gateway().get(`/v1/models/${name}`, FEW)).json.id).toBe(name);
  }
});

it("a key with a list of models is told of no others", async () => {
  const unknown = await ask("pebble", FEW);
  expect([unknown.status, unknown.json.error.code]).toEqual([404, "model_not_found"]);
  const missing = await ask("", FEW);
  expect([missing.status, missing.json.error.code]).toEqual([400, "missing_value"]);
  const shown = await gateway().get("/v1/models/pebble", FEW);
  for (const { json } of [unknown, missing, shown]) {
    expect(json.error.hint).toBe("known names: auto, pebble-mini");
  }
  expect((await ask("pebble", BOSS)).json.error.hint).toContain("abacus-14b");
  const { data } = (await gateway().get("/v1/models", FEW)).json;
  expect(data[0]).toMatchObject({ id: "auto", models: ["pebble-mini"] });
  expect(data[0].capabilities).toEqual(data[1].capabilities);
});

it("a decision for such a key names no other models, and no other routers", async () => {
  const hidden = ["other", "abacus-14b", "forge-coder", "quill-32b", "summit-pro"];
  const { post, get, log, url } = gateway();
  const { json } = await ask("auto", FEW);
  await log.flush();
  const responses = [
    await post("/v1/route", chat("Why?"), FEW),
    await get(`/v1/decisions/${json.id}`, FEW),
    await get("/v1/decisions", FEW),
    await get("/v1/tradeoff", FEW),
    await get("/v1/map", FEW),
    await get("/v1/sandbox/truth", FEW),
    await get("/v1/sandbox/voters", FEW),
    await ask("auto", FEW, { joust: { allowed_models: ["summit"] } }),
    await ask("auto", FEW, { max_tokens: 1e9, tools: [{ type: "web_search" }] }),
  ];
  for (const { text } of responses) {
    expect(hidden.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  }
  for (const path of ["/v1/tradeoff", "/v1/map"]) {
    const other = await get(`${path}?router=other`, FEW);
    expect([other.status, other.json.error.hint]).toEqual([404, "known names: auto"]);
    expect((await get(`${path}?router=other`, BOSS)).status).toBe(200);
  }
  const stop = new AbortController();
  const events = await fetch(`${url}/v1/events`, { headers: FEW, signal: stop.signal });
  const seen: string[] = [];
  void ask("auto", FEW);
  for await (const { name, data } of serverEvents(events)) {
    seen.push(JSON.parse(data).router);
    if (name === "answer") break;
  }
  stop.abort();
  expect(new Set(seen)).toEqual(new Set(["auto"]));
});

it("the trade-off of requests of other keys names only models of the key", async () => {
  const { post, get } = await startGateway(`${SANDBOX}
keys:
  few: {key: few-few-few-few-few, models: [pebble-mini]}
  all: {key: all-all-all-all-all}`);
  const all = { authorization: "Bearer all-all-all-all-all" };
  for (let n = 0; n < 3; n++) await post("/v1/chat/completions", chat(`Why ${n}?`), all);
  const singlesFor = async (key: Record<string, string>) => {
    const { json, text } = await get("/v1/tradeoff", key);
    expect([json.recent_queries, json.points.length]).toEqual([3, 21]);
    return { names: json.singles.map(({ model }: { model: string }) => model), text };
  };
  expect((await singlesFor(all)).names).toContain("summit-pro");
  const { names, text } = await singlesFor(FEW);
  expect(names).toEqual(["pebble-mini"]);
  for (const name of ["abacus-14b", "forge-coder", "quill-32b", "summit-pro"]) {
    expect(text).not.toContain(name);
  }
});

it("the numbers of other routers do not exist for a key with a list of routers", async () => {
  const { get } = gateway();
  const some = { authorization: "Bearer some-some-some-some" };
  for (const path of ["/v1/stats", "/v1/learning", "/v1/tradeoff", "/v1/map"]) {
    const refused = await get(`${path}?router=auto`, some);
    expect([path, refused.status, refused.json.error?.hint]).toEqual([
      ...[path, 404, "known names: other"],
    ]);
    expect((await get(path, some)).json.router).toBe("other");
    expect((await get(`${path}?router=auto`, BOSS)).json.router).toBe("auto");
  }
});

it.each(["bypass", "observe"])(
  "a router in mode %s serves such a key no other model",
  async (mode) => {
    const { post } = await startGateway(`${SANDBOX}
keys:
  few: {key: few-few-few-few-few, models: [pebble-mini]}
  all: {key: all-all-all-all-all}
routers: {auto: {mode: ${mode}, fallback: summit-pro}}`);
    const refused = await post("/v1/chat/completions", chat("Why?"), FEW);
    expect([refused.status, refused.json.error.code]).toEqual([403, "model_not_allowed"]);
    expect(refused.text).not.toContain("summit-pro");
    const all = { authorization: "Bearer all-all-all-all-all" };
    expect((await post("/v1/chat/completions", chat("Why?"), all)).json.model).toBe("summit-pro");
  },
);

it("a router without a model for such a key refuses it", async () => {
  const { post } = await startGateway(`${SANDBOX}
keys: {few: {key: few-few-few-few-few, models: [pebble-mini]}}
routers: {auto: {models: [summit-pro, quill-32b]}}`);
  const { status, json } = await post("/v1/chat/completions", chat("Why?"), FEW);
  expect([status, json.error.code, json.error.param]).toEqual([403, "model_not_allowed", "model"]);
});

it("a router chooses for such a key among its models only", async () => {
  for (let n = 0; n < 20; n++) {
    const { json } = await ask("auto", FEW);
    expect(json.model).toBe("pebble-mini");
  }
  const both = { joust: { allowed_models: ["abacus-14b", "pebble-mini"] } };
  expect((await ask("auto", FEW, both)).json.model).toBe("pebble-mini");
  expect((await ask("auto", FEW, { joust: { allowed_models: ["abacus-14b"] } })).status).toBe(400);
});

it("the lists of a key name models and routers that exist, or that the key has named before", async () => {
  const { post } = gateway();
  const refused = await post("/v1/admin/keys", { name: "x", models: ["pebble-mni"] }, BOSS);
  expect([refused.status, refused.json.error.param]).toEqual([400, "models"]);
  expect(refused.json.error.hint).toContain('did you mean "pebble-mini"?');
  const wild = await post("/v1/admin/keys", { name: "x", routers: ["*"] }, BOSS);
  expect([wild.status, wild.json.error.param]).toEqual([400, "routers"]);
});

it("the lists of a stored key can be changed and removed", async () => {
  const { post } = gateway();
  const { json } = await post("/v1/admin/keys", { name: "app", routers: ["other"] }, BOSS);
  const app = { authorization: `Bearer ${json.secret}` };
  expect((await ask("auto", app)).status).toBe(403);
  const path = "/v1/admin/keys/app/limits";
  const limited = await post(path, { routers: ["auto"], budget: 5, rate: 600 }, BOSS);
  expect(limited.json).toMatchObject({ routers: ["auto"], budget: 5, rate: 600 });
  expect((await ask("auto", app)).status).toBe(200);
  const free = await post(path, { routers: null, budget: null }, BOSS);
  expect([free.json.routers, free.json.budget, free.json.rate]).toEqual([
    undefined,
    undefined,
    600,
  ]);
  expect((await ask("other", app)).status).toBe(200);
  const { data } = (await gateway().get("/v1/admin/keys", BOSS)).json;
  const [{ spent }] = data.filter(({ name }: { name: string }) => name === "app");
  expect(spent).toBeGreaterThan(0);
});
