import { describe, expect, it } from "vitest";
import { newFolder, SANDBOX, startGateway, type TestGateway } from "../gateway.fixture.ts";
import { startUpstream } from "./upstream.fixture.ts";

const KEY = "sk-test-0123456789abcdef";
const URL = "http://127.0.0.1:9/v1";

const start = () => startGateway(SANDBOX, { folder: newFolder(), managed: { by: "store" } });

const change = (
  { post }: TestGateway,
  basedOn: number,
  ...changes: [section: string, name: string, value: object | null][]
) =>
  post("/v1/admin/configuration", {
    based_on: basedOn,
    changes: changes.map(([section, name, value]) => ({ section, name, value })),
  });

/** A gateway with the provider `house`, whose key is stored, and a model of it. */
async function startWithHouse(more: object = {}) {
  const gateway = await start();
  const house = { url: URL, key: KEY, ...more };
  const added = await change(
    gateway,
    0,
    ["providers", "house", house],
    ["models", "m", { provider: "house" }],
  );
  expect(added.status).toBe(200);
  const served = () => gateway.serving().config.providers.house!;
  return { gateway, house: served };
}

describe("a change of an entry that does not mention its secrets", () => {
  it("keeps the key of a provider; null removes it", async () => {
    const { gateway, house } = await startWithHouse();
    const moved = await change(gateway, 1, ["providers", "house", { url: `${URL}/b` }]);
    expect(moved.json.document.providers.house.key).toMatch(/^\[secret:/);
    expect(house()).toMatchObject({ url: `${URL}/b`, key: KEY });
    const removed = await change(gateway, 2, ["providers", "house", { url: URL, key: null }]);
    expect(removed.json.document.providers.house).toEqual({ url: URL });
    expect(house().key).toBeUndefined();
  });

  it("keeps secret headers, but not the others", async () => {
    const headers = { authorization: `Bearer ${KEY}`, "x-team": "a" };
    const { gateway, house } = await startWithHouse({ headers });
    await change(gateway, 1, ["providers", "house", { url: URL }]);
    expect(house().headers).toEqual({ authorization: `Bearer ${KEY}` });
    const none = { url: URL, headers: { authorization: null } };
    await change(gateway, 2, ["providers", "house", none]);
    expect(house().headers).toEqual({});
  });

  it("keeps the keys of deployments, which may change their order", async () => {
    const { gateway } = await startWithHouse();
    const deployments = [
      { name: "a", provider: "house", key: `${KEY}-a` },
      { provider: "house", key: `${KEY}-1` },
      { provider: "house", key: `${KEY}-2` },
    ];
    await change(gateway, 1, ["models", "m", { deployments }]);
    const other = [{ provider: "house", weight: 2 }, { provider: "house" }, { provider: "ollama" }];
    const named = { name: "a", provider: "house", rpm: 5 };
    await change(gateway, 2, ["models", "m", { deployments: [...other, named] }]);
    const served = gateway.serving().config.models.m!.deployments!;
    expect(served.map(({ key }) => key)).toEqual([`${KEY}-1`, `${KEY}-2`, undefined, `${KEY}-a`]);
  });

  it("keeps nothing of an entry that was removed before", async () => {
    const { gateway, house } = await startWithHouse();
    await change(gateway, 1, ["providers", "house", null], ["providers", "house", { url: URL }]);
    expect(house().key).toBeUndefined();
  });

  it("is tested with the stored key, as it would be served", async () => {
    const { url } = await startUpstream(KEY, ["small"]);
    const { gateway } = await startWithHouse({ url });
    const test = (value: object) =>
      gateway.post("/v1/admin/providers/test", { name: "house", value, models: ["small"] });
    expect((await test({ url })).json.ok).toBe(true);
    expect((await test({ url, key: null })).json.ok).toBe(false);
  });
});

describe("the test of a provider without a value", () => {
  /** A joust.yaml in the form of JSON. */
  const configured = (url: string) =>
    JSON.stringify({
      providers: { house: { url, key: KEY } },
      models: { small: { provider: "house" } },
    });

  it.each(["store", "file"] as const)("uses the key of the configuration in the %s", async (by) => {
    const { url } = await startUpstream(KEY, ["small"]);
    const gateway =
      by === "store"
        ? (await startWithHouse({ url })).gateway
        : await startGateway(configured(url), { managed: { by, file: "joust.yaml" } });
    const test = (body: object) => gateway.post("/v1/admin/providers/test", body);
    expect((await test({ name: "house" })).json).toMatchObject({ provider: "house", ok: true });
    const { document } = (await gateway.get("/v1/admin/configuration")).json;
    for (const value of [{ url }, document.providers.house, { url, key: "[secret]" }]) {
      expect((await test({ name: "house", value })).json.ok).toBe(true);
    }
    const elsewhere = await test({ name: "house", value: { url: URL } });
    expect([elsewhere.status, elsewhere.json.error.param]).toEqual([400, "providers.house.key"]);
    const unknown = await test({ name: "nobody" });
    expect([unknown.status, unknown.json.error.param]).toEqual([400, "name"]);
    expect(unknown.json.error.message).toBe("there is no provider nobody");
  });
});

describe("a change that changes nothing", () => {
  it("of the configuration makes no revision and no audit record", async () => {
    const { gateway } = await startWithHouse();
    const same = [
      ["providers", "house", { key: KEY, url: URL }],
      ["routers", "auto", {}],
      ["metrics", "gone", null],
    ] as const;
    for (const one of same) {
      expect((await change(gateway, 1, [...one])).json.revision).toBe(1);
    }
    const reverted = await gateway.post("/v1/admin/configuration/revert", {
      based_on: 1,
      revision: 1,
    });
    expect(reverted.json.revision).toBe(1);
    expect((await gateway.get("/v1/admin/audit")).json.data).toHaveLength(1);
  });

  it("of an API key makes no audit record", async () => {
    const gateway = await start();
    const { json } = await gateway.post("/v1/admin/keys", {
      name: "boss",
      scopes: ["admin"],
      budget: 5,
    });
    const boss = { authorization: `Bearer ${json.secret}` };
    const limits = { budget: 5, rate: null, scopes: ["admin"] };
    const changed = await gateway.post("/v1/admin/keys/boss/limits", limits, boss);
    expect(changed.json).toMatchObject({ name: "boss", budget: 5 });
    expect((await gateway.get("/v1/admin/audit", boss)).json.data).toHaveLength(1);
    await gateway.post("/v1/admin/keys/boss/limits", { ...limits, rate: 9 }, boss);
    expect((await gateway.get("/v1/admin/audit", boss)).json.data).toHaveLength(2);
  });
});

describe("a provider that is added alone", () => {
  it("is saved, and the response says that a model is missing", async () => {
    const { gateway } = await startWithHouse();
    const added = await change(gateway, 1, ["providers", "new", { url: URL, key: KEY }]);
    expect(added.status).toBe(200);
    expect(added.json.next_steps).toEqual([
      expect.stringMatching(/^No model uses the provider new yet: add one, .*"provider": "new"/),
    ]);
    const done = await change(gateway, 2, ["models", "n", { provider: "new" }]);
    expect(done.json.next_steps).toEqual([]);
  });

  it("to an installation without named models serves those that it lists", async () => {
    const { url } = await startUpstream(KEY, ["small", "large"]);
    const gateway = await start();
    const added = await change(gateway, 0, ["providers", "new", { url, key: KEY }]);
    expect(added.json.next_steps).toEqual([
      expect.stringMatching(/^Every model that the provider new lists is served/),
    ]);
    expect([...gateway.serving().models.keys()]).toEqual(["small", "large"]);
  });

  it("is replaced by the models of it that are added; those of other providers stay", async () => {
    const one = await startUpstream(KEY, ["small", "large"]);
    const two = await startUpstream(KEY, ["other"]);
    const gateway = await start();
    const added = await change(
      gateway,
      0,
      ["providers", "one", { url: one.url, key: KEY }],
      ["providers", "two", { url: two.url, key: KEY }],
    );
    expect([added.status, added.json.from]).toEqual([200, "store"]);
    const chosen = await change(gateway, 1, ["models", "small", { provider: "one" }]);
    expect([chosen.status, chosen.json.from]).toEqual([200, "store"]);
    expect([...gateway.serving().models.keys()].toSorted()).toEqual(["other", "small"]);
    const { json } = await gateway.post("/v1/admin/configuration/revert", {
      based_on: 2,
      revision: 0,
    });
    expect(json.from).toBe("sandbox");
  });

  it("is refused with its entry and the remedy if it does not list its models", async () => {
    const { json } = await change(await start(), 0, ["providers", "new", { url: URL }]);
    expect(json.error.param).toBe("providers.new");
    expect(json.error.hint).toContain("name its models under `models`");
  });
});

it("a change that is based on a revision that does not exist yet is refused, and the error names the newest one", async () => {
  const { gateway } = await startWithHouse();
  const { status, json } = await change(gateway, 8, ["routers", "auto", {}]);
  expect([status, json.error.code]).toEqual([409, "configuration_changed"]);
  expect(json.error.message).toBe("there is no revision 8 yet: the newest one is 1");
});

it("going back names the secrets that keep their new value", async () => {
  const { gateway, house } = await startWithHouse();
  await change(gateway, 1, ["providers", "house", { url: URL, key: `${KEY}-new` }]);
  const revert = (basedOn: number, revision: number) =>
    gateway.post("/v1/admin/configuration/revert", { based_on: basedOn, revision });
  const kept = (await revert(2, 1)).json;
  expect([kept.revision, kept.kept_secrets]).toEqual([2, ["providers.house.key"]]);
  expect(house().key).toBe(`${KEY}-new`);
  expect((await revert(2, 2)).json.kept_secrets).toEqual([]);
});

it("an administrative request that is refused names the member at fault", async () => {
  const gateway = await start();
  const entries = [
    ["routers", "auto", { cost_quality_tradeoff: 70 }, "routers.auto.cost_quality_tradeoff"],
    ["routers", "auto", { models: ["nobody"] }, "routers.auto.models.0"],
    ["models", "x", { provider: "nobody" }, "models.x.provider"],
    ["providers", "y", { url: "nowhere" }, "providers.y.url"],
  ] as const;
  for (const [section, name, value, param] of entries) {
    const { json } = await change(gateway, 0, [section, name, value]);
    expect(json.error).toMatchObject({ param, code: "invalid_value" });
  }
  const { json } = await gateway.post("/v1/admin/keys", { name: "a", scopes: ["admin"] });
  const boss = { authorization: `Bearer ${json.secret}` };
  const requests = [
    ["keys", { name: "a" }, "name"],
    ["keys/nobody/revoke", {}, "id"],
    ["keys/nobody/limits", { budget: 5 }, "id"],
    ["keys/a/limits", { budget: -5 }, "budget"],
    ["routers/auto/thaw", {}, "router"],
    ["routers/auto/forget", { voter: "nobody" }, "voter"],
    ["providers/test", { name: "x", value: { url: 5 } }, "providers.x.url"],
  ] as const;
  for (const [path, body, param] of requests) {
    const refused = await gateway.post(`/v1/admin/${path}`, body, boss);
    expect([path, refused.status, refused.json.error.param]).toEqual([path, 400, param]);
  }
});

it.each(["__proto__", "constructor", "toString"])(
  "an entry cannot have the name %s, and the next change is saved",
  async (name) => {
    const gateway = await start();
    const value = { provider: { url: "http://127.0.0.1:9/v1" }, metric: { type: "boolean" } };
    for (const [section, entry] of [
      ["providers", value.provider],
      ["models", { provider: "sandbox" }],
      ["routers", {}],
      ["metrics", value.metric],
    ] as const) {
      const { status, json } = await change(gateway, 0, [section, name, entry]);
      expect([section, status, json.error?.code]).toEqual([section, 400, "invalid_value"]);
    }
    for (const tested of [{}, { value: {} }, { value: value.provider, models: ["a"] }]) {
      const refused = await gateway.post("/v1/admin/providers/test", { name, ...tested });
      expect([refused.status, refused.json.error?.param]).toEqual([400, "name"]);
    }
    const next = await change(gateway, 0, ["metrics", "thumbs", value.metric]);
    expect([next.status, next.json.revision]).toEqual([200, 1]);
  },
);
