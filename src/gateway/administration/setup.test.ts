import { describe, expect, it } from "vitest";
import { chat, SANDBOX, startGateway } from "../gateway.fixture.ts";
import { recognised } from "./trial.ts";
import { startUpstream } from "./upstream.fixture.ts";

const KEY = "sk-proj-0123456789abcdef";

async function start() {
  const upstream = await startUpstream(KEY, ["gpt-5.4-mini", "gpt-5.4-nano"]);
  const env = { OPENAI_BASE_URL: upstream.url };
  return { upstream, gateway: await startGateway(SANDBOX, { env, managed: { by: "store" } }) };
}

describe("setup", () => {
  it("turns a key into a router whose models answer", async () => {
    const { gateway } = await start();
    const { json, text } = await gateway.post("/v1/admin/setup", { based_on: 0, key: ` ${KEY}\n` });
    expect(json.test).toMatchObject({ provider: "openai", ok: true });
    expect(json.models).toEqual(["gpt-5.4-mini", "gpt-5.4-nano"]);
    expect(json.configuration).toMatchObject({ revision: 1, from: "store" });
    expect(text).not.toContain(KEY);
    const failed = json.test.steps.find(({ ok }: { ok: boolean }) => !ok);
    expect(failed).toMatchObject({ what: "model", model: "gpt-5.4" });
    const { status, json: answer } = await gateway.post("/v1/chat/completions", chat("hi"));
    expect([status, answer.choices[0].message.content]).toEqual([200, "OK"]);
  });

  it("with a wrong key saves nothing and says that the key was refused", async () => {
    const { gateway } = await start();
    const { json } = await gateway.post("/v1/admin/setup", {
      based_on: 0,
      key: "sk-proj-wrong-key",
    });
    expect([json.test.ok, json.models, json.configuration.revision]).toEqual([false, [], 0]);
    expect(json.test.steps).toMatchObject([
      { what: "address", ok: true },
      { what: "key", ok: false },
    ]);
  });

  it("keeps the settings of models that the provider has already", async () => {
    const { gateway } = await start();
    const price = { input: 1, output: 2 };
    const models = {
      "gpt-5.4-mini": { provider: "openai", price },
      "gpt-5.4-nano": { provider: "openai", model: "gpt-5.4-mini" },
      "openai/gpt-5.4-nano": { provider: "openai", model: "another" },
    };
    const changes = Object.entries(models).map(([name, value]) => ({
      section: "models",
      name,
      value,
    }));
    const provider = {
      section: "providers",
      name: "openai",
      value: { key: "sk-proj-old-old-old" },
    };
    const path = "/v1/admin/configuration";
    const body = { based_on: 0, changes: [provider, ...changes] };
    expect((await gateway.post(path, body)).status).toBe(200);
    const { json } = await gateway.post("/v1/admin/setup", { based_on: 1, key: KEY });
    expect(json.models).toEqual(["openai/gpt-5.4-nano-2"]);
    expect(json.configuration.document.models).toEqual({
      ...models,
      "openai/gpt-5.4-nano-2": { provider: "openai", model: "gpt-5.4-nano" },
    });
  });

  it("requires the name of the provider if the key does not show it", async () => {
    const { gateway } = await start();
    const unclear = await gateway.post("/v1/admin/setup", { based_on: 0, key: "0123456789" });
    expect([unclear.status, unclear.json.error.code]).toEqual([400, "provider_unknown"]);
    const body = { based_on: 0, key: KEY, provider: "openai" };
    expect((await gateway.post("/v1/admin/setup", body)).json.test.ok).toBe(true);
  });
});

describe("the test of a provider", () => {
  const test = async (value: object, models?: readonly string[]) => {
    const { gateway } = await start();
    const body = { name: "house", value, models };
    return (await gateway.post("/v1/admin/providers/test", body)).json;
  };

  it("names the address if nobody answers there", async () => {
    const report = await test({ url: "http://127.0.0.1:9/v1" }, ["m"]);
    expect(report.ok).toBe(false);
    expect(report.steps).toMatchObject([{ what: "address", ok: false }]);
    expect(report.steps[0].detail).toContain("check the address");
  });

  it("calls models that the provider lists, if none are named", async () => {
    const { upstream, gateway } = await start();
    const value = { url: upstream.url, key: KEY };
    const { json } = await gateway.post("/v1/admin/providers/test", { name: "house", value });
    expect([json.ok, json.steps.length]).toEqual([true, 4]);
  });

  it("says that no key was sent if there is none", async () => {
    const open = await startUpstream(undefined, ["m"]);
    const closed = await startUpstream(KEY, ["m"]);
    const keyStep = async (value: object) =>
      (await test(value, ["m"])).steps.find(({ what }: { what: string }) => what === "key");
    const unneeded = await keyStep({ url: open.url });
    expect([unneeded.ok, unneeded.detail]).toEqual([
      true,
      expect.stringContaining("no key was sent"),
    ]);
    const unused = await keyStep({ url: open.url, key: KEY, auth: "none" });
    expect([unused.ok, unused.detail]).toEqual([true, unneeded.detail]);
    const missing = await keyStep({ url: closed.url });
    expect([missing.ok, missing.detail]).toEqual([false, expect.stringContaining("none was sent")]);
    for (const own of [{ key: KEY }, { headers: { authorization: `Bearer ${KEY}` } }]) {
      const accepted = await keyStep({ url: closed.url, ...own });
      expect([accepted.ok, accepted.detail]).toEqual([true, "the provider accepts the key"]);
    }
  });

  it("refuses a provider that the configuration would refuse", async () => {
    const { gateway } = await start();
    const body = { name: "house", value: { url: "not an address" } };
    const { status, json } = await gateway.post("/v1/admin/providers/test", body);
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringContaining("providers.house.url"),
    ]);
  });
});

it.each([
  ["sk-ant-api03-x", "anthropic"],
  ["sk-or-v1-x", "openrouter"],
  ["sk-proj-x", "openai"],
  [`sk-${"0".repeat(32)}`, "deepseek"],
  ["gsk_x", "groq"],
  ["xai-x", "xai"],
  ["AIzaX", "gemini"],
])("recognises %s", (key, provider) => expect(recognised(key)).toEqual([provider]));

it("lists known providers and the catalog", async () => {
  const { gateway } = await start();
  const { data } = (await gateway.get("/v1/admin/providers")).json;
  expect(data.find(({ name }: { name: string }) => name === "azure").settings).toEqual([
    "resource",
  ]);
  const catalog = (await gateway.get("/v1/admin/catalog?provider=anthropic")).json.data;
  const haiku = catalog.find(({ model }: { model: string }) => model === "claude-haiku-4-5");
  expect(haiku).toMatchObject({
    price: { input: expect.any(Number) },
    capabilities: { tools: true },
  });
});
