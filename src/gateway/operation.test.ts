import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import {
  chat,
  configOf,
  newFolder,
  SANDBOX,
  sharedGateway,
  startFaultyUpstream,
  startGateway,
} from "./gateway.fixture.ts";

const sandbox = sharedGateway(() => SANDBOX);

describe("a gateway without its store", () => {
  it("answers requests, refuses votes until the store is back, and loses or repeats none", async () => {
    const { post, get, store, lines } = await startGateway(SANDBOX);
    const logged = (text: string) => lines.filter((line) => line.includes(text)).length;
    const append = store.append.bind(store);
    const ask = async () => (await post("/v1/chat/completions", chat("hi", DUEL))).json;
    const before = await ask();
    store.append = () => Promise.reject(new StoreUnavailable("the disk is full", 7));
    const during = await ask();
    expect(during.choices).toHaveLength(2);
    const refused = await post("/v1/feedback", { id: before.id, winner: 0 });
    expect([refused.status, refused.json.error.code]).toEqual([503, "store_unavailable"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await get("/readyz")).json).toEqual({ status: "ready", store: "down" });
    expect((await get("/metrics")).text).toContain("joust_store_up 0");
    expect(logged("the store is unavailable: the disk is full")).toBe(1);

    store.append = append;
    const again = () => post("/v1/feedback", { id: before.id, winner: 0 });
    await expect.poll(async () => (await again()).status).toBe(200);
    expect((await again()).json.status).toBe("repeated");
    expect(logged("the store is available again")).toBe(1);
    // Decisions made while the store was down are in the log.
    expect((await post("/v1/feedback", { id: during.id, winner: 1 })).json.status).toBe("logged");
    const learned = await store.logEvents("auto", 0, 100);
    expect(learned.filter(({ kind }) => kind === "voted")).toHaveLength(2);
  });
});

const DUEL = { joust: { duel: true } };

describe("the posterior", () => {
  it("survives a restart and can be frozen, thawed, rolled back and forgotten", async () => {
    const folder = newFolder();
    const first = await startGateway(SANDBOX, { folder });
    const vote = async ({ post }: typeof first, voter: string) => {
      const { json } = await post("/v1/chat/completions", chat("Why is it so?", DUEL));
      return post("/v1/feedback", { id: json.id, winner: 0, voter });
    };
    const standing = async ({ get }: typeof first) =>
      JSON.stringify((await get("/v1/stats")).json.leaderboard.categories);
    const untaught = await standing(first);
    for (let i = 0; i < 5; i++) await vote(first, "ann");
    await expect.poll(() => standing(first)).not.toBe(untaught);
    const head = await first.store.head("auto");
    const version = async (of: typeof first) => (await of.get("/v1/stats")).json.posterior_version;
    await expect.poll(() => version(first)).toBe(head);
    const taught = await standing(first);
    await first.close();

    const second = await startGateway(SANDBOX, { folder });
    expect(await standing(second)).toBe(taught);
    const noon = new Date().toISOString();
    const admin = (what: string, body: object = {}) =>
      second.post(`/v1/admin/routers/auto/${what}`, body);
    expect((await admin("freeze")).json).toEqual({ router: "auto", frozen: true });
    expect((await admin("freeze")).status).toBe(400);
    await vote(second, "bob");
    expect((await admin("thaw", { learn: false })).json.frozen).toBe(false);
    await vote(second, "mallory");
    const learned = async () => {
      await expect
        .poll(async () => (await second.store.head("auto")) - (await version(second)))
        .toBe(0);
      return values(JSON.parse(await standing(second)));
    };
    const changed = await learned();
    expect(changed).not.toEqual(values(JSON.parse(taught)));
    expect((await admin("forget", { voter: "mallory" })).json).toMatchObject({ forgotten: 1 });
    expect(await learned()).toEqual(values(JSON.parse(taught)));
    expect((await admin("forget", { voter: "nobody" })).status).toBe(400);
    await vote(second, "eve");
    expect((await admin("rollback", { to: noon })).json).toMatchObject({
      router: "auto",
      undone: 1,
    });
    expect(await learned()).toEqual(values(JSON.parse(taught)));
    expect((await admin("rollback", { to: "yesterday" })).status).toBe(400);
  });
});

/** The leaderboard without the parts that depend on samples and traffic. */
function values(categories: { models: { model: string; value: number; sd: number }[] }[]) {
  return categories.map(({ models }) =>
    models
      .map(({ model, value, sd }) => `${model} ${value.toFixed(9)} ${sd.toFixed(9)}`)
      .toSorted(),
  );
}

describe("prompts", () => {
  it("are stored only if the operator chooses to, and encrypted if there is a key", async () => {
    const { post, get } = sandbox();
    const { json } = await post("/v1/chat/completions", chat("remember me"));
    const plain = await get(`/v1/decisions/${json.joust.decision_id}`);
    expect(plain.text).not.toContain("remember me");
    const folder = newFolder();
    const secret = await startGateway(
      `${SANDBOX}\nstore: {prompts: true, key: ${"ab".repeat(32)}}`,
      { folder },
    );
    const kept = await secret.post("/v1/chat/completions", chat("remember me"));
    const id = kept.json.joust.decision_id;
    expect((await secret.get(`/v1/decisions/${id}`)).json.prompt).toBe("remember me");
    const sealed = await secret.store.prompt(id);
    expect(Buffer.from(sealed!).toString("latin1")).not.toContain("remember");
    const short = `${SANDBOX}\nstore: {prompts: true, key: abc}`;
    const refused = /store\.key.*does not have 32 bytes; hint: /;
    await expect(startGateway(short)).rejects.toThrow(errorText(refused));
    await expect(secret.reload(configOf(short))).rejects.toThrow(errorText(refused));
    expect((await secret.post("/v1/chat/completions", chat("and me"))).status).toBe(200);
  });
});

describe("shutting down", () => {
  it("finishes the running requests and accepts no new ones", async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(
      `providers: {p: {url: "${host.url("slowFirstByte")}"}}\nmodels: {a: {provider: p}}`,
    );
    const underWay = gateway.post("/v1/chat/completions", chat("hi"));
    const events = fetch(`${gateway.url}/v1/events`);
    await expect.poll(() => host.received.length).toBe(1);
    await (await events).body?.getReader().read();
    await gateway.close();
    const { status, json } = await underWay;
    expect([status, json.choices[0].message.content]).toEqual([200, "Hello!"]);
    await expect(gateway.get("/healthz")).rejects.toThrow();
  });
});

describe("the page", () => {
  it("is served with a policy that forbids other scripts, and no other file is served", async () => {
    const web = newFolder();
    mkdirSync(join(web, "assets"));
    writeFileSync(join(web, "index.html"), "<!doctype html><title>Joust</title>");
    writeFileSync(join(web, "assets", "a.js"), "1");
    const { get } = await startGateway(SANDBOX, { web });
    const page = await get("/");
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'/);
    const etag = page.headers.get("etag")!;
    expect((await get("/", { "if-none-match": etag })).status).toBe(304);
    const script = await get("/assets/a.js");
    expect(script.headers.get("cache-control")).toContain("immutable");
    for (const path of ["/assets/../../etc/passwd", "/%2e%2e/joust.db", "/assets", "/nothing.js"]) {
      expect((await get(path)).status).toBe(404);
    }
    expect((await sandbox().get("/")).status).toBe(404);
  });
});

it("keeps answering after it has reported on /readyz that it leaves", async () => {
  const gateway = await startGateway(`${SANDBOX}\nserver: {shutdown_delay_seconds: 1}`);
  const left = gateway.leave();
  const { status, json } = await gateway.get("/readyz");
  expect([status, json.error.message]).toEqual([503, "this node is shutting down"]);
  expect((await gateway.post("/v1/chat/completions", chat("hi"))).status).toBe(200);
  await left;
});
