import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { eventually } from "../../store/eventually.fixture.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import {
  chat,
  configOf,
  newFolder,
  SANDBOX,
  startGateway,
  type TestGateway,
} from "../gateway.fixture.ts";

const KEY = "sk-test-0123456789abcdef";
const HOUSE = { url: "http://127.0.0.1:9/v1", key: KEY };

/** Starts a gateway whose configuration is managed in the store. */
const start = (folder = newFolder(), yaml = SANDBOX) =>
  startGateway(yaml, { folder, managed: { by: "store" } });

const change = (
  { post }: TestGateway,
  basedOn: number,
  ...changes: [section: string, name: string, value: object | null][]
) =>
  post("/v1/admin/configuration", {
    based_on: basedOn,
    changes: changes.map(([section, name, value]) => ({ section, name, value })),
  });

describe("a configuration in the store", () => {
  it("is changed, audited, kept over a restart and exported", async () => {
    const folder = newFolder();
    const gateway = await start(folder);
    const first = (await gateway.get("/v1/admin/configuration")).json;
    expect(first).toMatchObject({ managed_by: "store", revision: 0, from: "sandbox" });
    const router = { cost_quality_tradeoff: 7, duels: { mode: "auto" } };
    const changed = await change(gateway, 0, ["routers", "auto", router], ["routers", "code", {}]);
    expect(changed.json).toMatchObject({
      revision: 1,
      document: { routers: { auto: router, code: {} } },
      effective: { routers: { auto: { mode: "apply", duels: { mode: "auto", share: 0.2 } } } },
    });
    expect((await gateway.get("/v1/tradeoff")).json.current).toBe(7);
    expect((await gateway.post("/v1/route", chat("hi", { model: "code" }))).status).toBe(200);
    const { data } = (await gateway.get("/v1/admin/audit")).json;
    expect(data).toMatchObject([
      {
        actor: null,
        action: "configuration.change",
        target: "routers.auto, routers.code",
        revision: 1,
        before: { "routers.auto": {}, "routers.code": null },
        after: { "routers.auto": router, "routers.code": {} },
      },
    ]);
    await gateway.close();
    const again = await start(folder);
    expect((await again.get("/v1/tradeoff")).json.current).toBe(7);
    const { text } = await again.get("/v1/admin/configuration/export");
    expect(configOf(text).routers.auto).toMatchObject(router);
  });

  it.each([
    ["routers", "auto", { cost_quality_tradeoff: 70 }, "routers.auto.cost_quality_tradeoff"],
    ["routers", "auto", { models: ["nobody"] }, "routers.auto.models.0"],
    ["routers", "auto", { policy: "./evil.js" }, "routers.auto.policy"],
    ["routers", "auto", null, "routers"],
    ["models", "x", { provider: "openai" }, "models.x.provider"],
    [
      "providers",
      "house",
      { key: "[secret:000000000000]", url: "http://a/v1" },
      "providers.house.key",
    ],
  ] as const)("refuses %s.%s = %j and saves nothing", async (section, name, value, field) => {
    const gateway = await start();
    const { status, json } = await change(gateway, 0, [section, name, value]);
    expect([status, json.error.message.split(" ")[0]]).toEqual([400, field]);
    expect((await gateway.get("/v1/admin/configuration")).json.revision).toBe(0);
    expect((await gateway.get("/v1/admin/audit")).json.data).toEqual([]);
  });

  it("does not replace names of variables or files", async () => {
    const gateway = await start();
    const entry = {
      url: "http://127.0.0.1:9/v1",
      headers: { "x-a": "\u0024{file:/etc/hostname}" },
    };
    await change(gateway, 0, ["providers", "house", entry], ["models", "m", { provider: "house" }]);
    const { effective } = (await gateway.get("/v1/admin/configuration")).json;
    expect(effective.providers.house.headers).toEqual(entry.headers);
  });

  it("refuses a change that is based on an old revision, and says what was changed", async () => {
    const gateway = await start();
    await change(gateway, 0, ["routers", "auto", { explore: 0.1 }]);
    const stale = await change(gateway, 0, ["routers", "auto", { explore: 0.2 }]);
    expect([stale.status, stale.json.error.code]).toEqual([409, "configuration_changed"]);
    expect(stale.json.error.message).toContain("routers.auto");
    expect((await change(gateway, 1, ["routers", "auto", { explore: 0.2 }])).json.revision).toBe(2);
  });

  it("goes back to an earlier revision", async () => {
    const gateway = await start();
    await change(gateway, 0, ["routers", "auto", { explore: 0.1 }]);
    await change(gateway, 1, ["routers", "auto", { explore: 0.2 }]);
    const revert = (body: object) => gateway.post("/v1/admin/configuration/revert", body);
    expect((await revert({ based_on: 1, revision: 1 })).status).toBe(409);
    expect((await revert({ based_on: 2, revision: 9 })).status).toBe(404);
    const { json } = await revert({ based_on: 2, revision: 1 });
    expect([json.revision, json.document.routers.auto]).toEqual([3, { explore: 0.1 }]);
    expect((await revert({ based_on: 3, revision: 0 })).json.document.routers.auto).toEqual({});
    const { data } = (await gateway.get("/v1/admin/audit")).json;
    expect(data[1]).toMatchObject({ action: "configuration.revert", target: "revision 1" });
  });

  it("is served by the other nodes too", async () => {
    const folder = newFolder();
    const [a, b] = [await start(folder), await start(folder)];
    await change(a, 0, ["routers", "fast", { cost_quality_tradeoff: 9 }]);
    await eventually(async () => (await b.get("/v1/models/fast")).status).toBe(200);
    expect((await change(b, 1, ["routers", "fast", null])).json.revision).toBe(2);
    await eventually(async () => (await a.get("/v1/models/fast")).status).toBe(404);
  });

  it("keeps the models of the environment when a model is added", async () => {
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
    const gateway = await startGateway(SANDBOX, { env, managed: { by: "store" } });
    const { json } = await change(gateway, 0, [
      "models",
      "mine",
      { provider: "sandbox", model: "abacus-14b" },
    ]);
    expect(Object.keys(json.document.models)).toEqual([
      "gpt-5.4",
      "gpt-5.4-mini",
      "gpt-5.4-nano",
      "mine",
    ]);
  });
});

describe("secrets", () => {
  it("are in no response, audit record, export, log line or file", async () => {
    const folder = newFolder();
    const gateway = await start(folder);
    const deployments = [{ provider: "house", key: `${KEY}-2` }];
    const added = await change(
      gateway,
      0,
      ["providers", "house", { ...HOUSE, headers: { authorization: `${KEY}-3`, "x-team": "a" } }],
      ["models", "m", { deployments }],
    );
    expect(added.status).toBe(200);
    const exported = await gateway.get("/v1/admin/configuration/export");
    expect(exported.text).toContain("\u0024{HOUSE_KEY}");
    const { data } = (await gateway.get("/v1/admin/audit")).json;
    expect(data[0].after["providers.house"].headers["x-team"]).toBe("a");
    const failed = await gateway.post("/v1/chat/completions", chat("hi", { model: "m" }));
    const texts = [added, exported, failed, await gateway.get("/v1/admin/configuration")];
    const all = [...texts.map(({ text }) => text), JSON.stringify(data), ...gateway.lines];
    for (const text of all) expect(text).not.toContain(KEY);
    await gateway.close();
    for (const file of readdirSync(folder)) {
      if (!statSync(join(folder, file)).isFile()) continue;
      expect([file, readFileSync(join(folder, file)).includes(KEY)]).toEqual([file, false]);
    }
    expect(statSync(join(folder, "secrets.key")).mode & 0o777).toBe(0o600);
  });

  it("stay when their placeholder is sent back, and are replaced by a new value", async () => {
    const folder = newFolder();
    const gateway = await start(folder);
    const { json } = await change(
      gateway,
      0,
      ["providers", "house", HOUSE],
      ["models", "m", { provider: "house" }],
    );
    const { house } = json.document.providers;
    expect(house.key).toMatch(/^\[secret:[0-9a-f]{12}\]$/);
    const kept = await change(gateway, 1, [
      "providers",
      "house",
      { ...house, request_usage: false },
    ]);
    expect(kept.json.document.providers.house.key).toBe(house.key);
    const rotated = await change(gateway, 2, [
      "providers",
      "house",
      { ...house, key: `${KEY}-new` },
    ]);
    const { key } = rotated.json.document.providers.house;
    expect(key).not.toBe(house.key);
    // Going back keeps the new key, because the old one is probably revoked.
    const reverted = await gateway.post("/v1/admin/configuration/revert", {
      based_on: 3,
      revision: 1,
    });
    expect(reverted.json.document.providers.house).toEqual({ ...house, key });
    expect(gateway.serving().config.providers.house!.key).toBe(`${KEY}-new`);
    await gateway.close();
    expect((await start(folder)).serving().config.providers.house!.key).toBe(`${KEY}-new`);
  });

  it("cannot be read without their key, and the gateway says so at its start", async () => {
    const folder = newFolder();
    const gateway = await start(folder);
    await change(gateway, 0, ["providers", "house", HOUSE], ["models", "m", { provider: "house" }]);
    await gateway.close();
    const other = `${SANDBOX}\nstore: {key: "${"0".repeat(64)}"}`;
    const both = await start(folder, other);
    expect(both.serving().config.providers.house!.key).toBe(KEY);
    await both.close();
    rmSync(join(folder, "secrets.key"));
    await expect(start(folder, other)).rejects.toThrow(
      errorText("cannot decrypt the provider keys of revision 1"),
    );
    await expect(start(folder)).rejects.toThrow(errorText("secrets.key"));
    const store = await openSqlite(join(folder, "joust.db"));
    const { document, sealed } = (await store.configuration())!;
    expect([document.includes(KEY), Buffer.from(sealed).includes(KEY)]).toEqual([false, false]);
    await store.close();
  });
});

it("a configuration of a file is shown without secrets and cannot be changed", async () => {
  const yaml = `${SANDBOX}\nproviders: {house: {url: "http://127.0.0.1:9/v1", key: ${KEY}}}\nmodels: {m: {provider: house}}`;
  const managed = { by: "file", file: "/etc/joust.yaml" } as const;
  const gateway = await startGateway(yaml, { managed });
  const { json, text } = await gateway.get("/v1/admin/configuration");
  expect(json).toMatchObject({ managed_by: "file", file: "/etc/joust.yaml", from: "file" });
  expect(json.document.providers.house.key).toBe("[secret]");
  expect(text).not.toContain(KEY);
  const refused = await change(gateway, 0, ["routers", "auto", {}]);
  expect([refused.status, refused.json.error.code]).toEqual([409, "configuration_read_only"]);
  expect(refused.json.error.message).toContain("/etc/joust.yaml");
});

it("records changes of learning and of keys with the name of the key", async () => {
  const keys = "keys: {boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}}";
  const { post, get } = await startGateway(`${SANDBOX}\n${keys}`);
  const boss = { authorization: "Bearer adm-adm-adm-adm-adm" };
  await post("/v1/admin/routers/auto/freeze", {}, boss);
  const { json: answer } = await post("/v1/chat/completions", chat("hi"), boss);
  await post("/v1/feedback", { id: answer.id, rating: 1, voter: "ann" }, boss);
  const forgotten = await post("/v1/admin/routers/auto/forget", { voter: "config:boss/ann" }, boss);
  expect(forgotten.json.forgotten).toBe(1);
  const { json } = await post("/v1/admin/keys", { name: "app" }, boss);
  await post("/v1/admin/keys/app/budget", { budget: 5 }, boss);
  await post("/v1/admin/keys/app/revoke", {}, boss);
  const audit = await get("/v1/admin/audit", boss);
  const records = audit.json.data as { actor: string; action: string; target: string }[];
  expect(records.map(({ action, target }) => `${action} ${target}`)).toEqual([
    "key.revoke app",
    "key.change app",
    "key.add app",
    "router.forget auto",
    "router.freeze auto",
  ]);
  expect(new Set(records.map(({ actor }) => actor))).toEqual(new Set(["boss"]));
  expect(audit.text).not.toContain(json.secret);
  expect(audit.text).not.toContain("ann");
});
