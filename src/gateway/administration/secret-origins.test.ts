import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { newFolder, SANDBOX, startGateway, type TestGateway } from "../gateway.fixture.ts";
import { startUpstream } from "./upstream.fixture.ts";

const KEY = "sk-test-0123456789abcdef";
const URL = "http://127.0.0.1:9/v1";
const OTHER = "http://127.0.0.1:10/v1";

type Entry = readonly [section: string, name: string, value: object | null];

const requestOf = (changes: readonly Entry[]) =>
  changes.map(([section, name, value]) => ({ section, name, value }));

const change = ({ post }: TestGateway, basedOn: number, ...changes: Entry[]) =>
  post("/v1/admin/configuration", { based_on: basedOn, changes: requestOf(changes) });

/** A gateway with the provider `house`, whose key is stored, and a model of it. */
async function start(more: object = {}, models: object = { provider: "house" }) {
  const gateway = await startGateway(SANDBOX, { folder: newFolder(), managed: { by: "store" } });
  const house = { url: URL, key: KEY, ...more };
  const added = await change(gateway, 0, ["providers", "house", house], ["models", "m", models]);
  expect(added.status).toBe(200);
  const { document } = added.json;
  return { gateway, document, served: () => gateway.serving().config };
}

/** An address at which somebody collects the headers of all requests. */
async function startCollector() {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(JSON.stringify(request.headers));
    request.resume().on("end", () => response.writeHead(500).end());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, received };
}

/** Makes a change and expects a refusal that names the field. Returns the error. */
async function refused(gateway: TestGateway, field: string, ...changes: Entry[]) {
  const { json: before } = await gateway.get("/v1/admin/configuration");
  const { status, json } = await change(gateway, before.revision, ...changes);
  expect([status, json.error?.param]).toEqual([400, field]);
  expect((await gateway.get("/v1/admin/configuration")).json.revision).toBe(before.revision);
  return json.error as { message: string; hint: string };
}

describe("a stored secret", () => {
  it("is not sent to another origin by a change, a preview or a test", async () => {
    const { url, received } = await startCollector();
    const { gateway } = await start();
    const error = await refused(gateway, "providers.house.key", ["providers", "house", { url }]);
    expect(error.message).toBe(
      `providers.house.key was entered for http://127.0.0.1:9 and would be sent to ${url.slice(0, -3)}`,
    );
    expect(error.hint).toContain("enter it again");
    const value = { url };
    const requests = [
      ["configuration/preview", { changes: requestOf([["providers", "house", value]]) }],
      ["providers/test", { name: "house", value, models: ["m"] }],
      ["providers/test", { name: "house", value }],
    ] as const;
    for (const [path, body] of requests) {
      const { status, json } = await gateway.post(`/v1/admin/${path}`, body);
      expect([path, status, json.error?.param]).toEqual([path, 400, "providers.house.key"]);
    }
    expect(received).toEqual([]);
  });

  it("goes to another origin after it was entered again, also if it is the same", async () => {
    const { gateway, served } = await start();
    const moved = await change(gateway, 1, ["providers", "house", { url: OTHER, key: KEY }]);
    expect(moved.status).toBe(200);
    expect(served().providers.house).toMatchObject({ url: OTHER, key: KEY });
    const removed = await change(gateway, 2, ["providers", "house", { url: URL, key: null }]);
    expect([removed.status, served().providers.house!.key]).toEqual([200, undefined]);
  });

  it.each([
    ["the address of a dialect", { url: URL }, { dialects: { chat: `${OTHER}/chat/completions` } }],
    ["another scheme", { url: URL }, { url: "https://127.0.0.1:9/v1" }],
    ["another kind", { url: undefined, kind: "openai" }, { url: undefined, kind: "mistral" }],
    ["the kind alone", { kind: "openai" }, { url: undefined, kind: "openai" }],
    [
      "another resource",
      { url: undefined, kind: "azure", resource: "mine" },
      { url: undefined, kind: "azure", resource: "theirs" },
    ],
  ])("belongs to all addresses of its provider: %s", async (_, before, after) => {
    const { gateway } = await start(before);
    await refused(gateway, "providers.house.key", ["providers", "house", { ...before, ...after }]);
  });

  it("stays without a new address, in fewer dialects, and with another path", async () => {
    const dialects = { chat: `${URL}/chat/completions`, messages: `${OTHER}/messages` };
    const { gateway, served } = await start({ dialects });
    const fewer = { url: `${URL}/b`, dialects: { chat: dialects.chat } };
    expect((await change(gateway, 1, ["providers", "house", fewer])).status).toBe(200);
    expect(served().providers.house).toMatchObject({ ...fewer, key: KEY });
    await refused(gateway, "providers.house.key", ["providers", "house", { url: URL, dialects }]);
  });

  it("in a header has the same rule", async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const { gateway } = await start({ key: undefined, headers });
    const field = "providers.house.headers.authorization";
    await refused(gateway, field, ["providers", "house", { url: OTHER }]);
  });

  it("of a deployment belongs to the address of its provider", async () => {
    const deployments = [{ name: "a", provider: "house", key: `${KEY}-a` }];
    const { gateway, served } = await start({}, { deployments });
    const field = "models.m.deployments.0.key";
    await refused(gateway, field, ["providers", "house", { url: OTHER, key: KEY }]);
    await refused(
      gateway,
      field,
      ["providers", "evil", { url: OTHER }],
      ["models", "m", { deployments: [{ name: "a", provider: "evil" }] }],
    );
    const entered = [{ name: "a", provider: "house", key: `${KEY}-b` }];
    const both = await change(
      gateway,
      1,
      ["providers", "house", { url: OTHER, key: KEY }],
      ["models", "m", { deployments: entered }],
    );
    expect(both.status).toBe(200);
    expect(served().models.m!.deployments![0]!.key).toBe(`${KEY}-b`);
  });

  it("is not sent to the address of an earlier revision", async () => {
    const { gateway, served } = await start();
    const revert = (basedOn: number, revision: number) =>
      gateway.post("/v1/admin/configuration/revert", { based_on: basedOn, revision });
    await change(gateway, 1, ["providers", "house", { url: OTHER, key: "key-of-other" }]);
    await revert(2, 1);
    expect(served().providers.house).toMatchObject({ url: URL, key: KEY });
    await revert(3, 2);
    expect(served().providers.house).toMatchObject({ url: OTHER, key: "key-of-other" });
    await change(gateway, 4, ["providers", "house", { url: OTHER, key: "rotated" }]);
    await revert(5, 2);
    expect(served().providers.house).toMatchObject({ url: OTHER, key: "rotated" });
  });
});

describe("going back to a revision whose provider was removed", () => {
  const DEPLOYED = { deployments: [{ name: "a", provider: "other", key: `${KEY}-a` }] };

  it.each([
    ["after the provider was removed", { providers: ["other"], models: ["n", "d"] }],
    ["after a revert to revision 0", undefined],
  ])("returns the provider, its keys and its models %s", async (_, removed) => {
    const { gateway, served } = await start();
    const revert = async (basedOn: number, revision: number) => {
      const path = "/v1/admin/configuration/revert";
      return (await gateway.post(path, { based_on: basedOn, revision })).status;
    };
    const other: Entry[] = [
      ["providers", "other", { url: OTHER, key: `${KEY}-other` }],
      ["models", "n", { provider: "other" }],
      ["models", "d", DEPLOYED],
    ];
    expect((await change(gateway, 1, ...other)).status).toBe(200);
    if (removed) {
      const entries = Object.entries(removed).flatMap(([section, names]) =>
        names.map((name): Entry => [section, name, null]),
      );
      expect((await change(gateway, 2, ...entries)).status).toBe(200);
      expect(Object.keys(served().providers)).toEqual(["house"]);
    } else {
      expect(await revert(2, 0)).toBe(200);
      expect(served().providers).toEqual({});
    }
    expect(await revert(3, 2)).toBe(200);
    expect(served().providers).toMatchObject({
      house: { url: URL, key: KEY },
      other: { url: OTHER, key: `${KEY}-other` },
    });
    expect(Object.keys(served().models).toSorted()).toEqual(["d", "m", "n"]);
    expect(served().models.d!.deployments![0]!.key).toBe(`${KEY}-a`);
  });
});

describe("a placeholder", () => {
  it("is refused in another entry and in another field", async () => {
    const { gateway, document } = await start();
    const { key } = document.providers.house;
    expect(key).toMatch(/^\[secret:/);
    const wrong: Record<string, Entry> = {
      "providers.evil.key": ["providers", "evil", { url: URL, key }],
      "providers.house.headers.authorization": [
        "providers",
        "house",
        { url: URL, headers: { authorization: key } },
      ],
      "providers.house.headers.x-team": [
        "providers",
        "house",
        { url: URL, headers: { "x-team": key } },
      ],
      "models.m.deployments.0.key": ["models", "m", { deployments: [{ provider: "house", key }] }],
      "models.m.model": ["models", "m", { provider: "house", model: key }],
    };
    for (const [field, entry] of Object.entries(wrong)) {
      const { message, hint } = await refused(gateway, field, entry);
      expect(message).toContain("does not belong to this field");
      expect(hint).toBe("enter the secret itself");
    }
    const text = JSON.stringify((await gateway.get("/v1/admin/configuration")).json);
    expect(text).not.toContain(KEY);
    const body = { name: "evil", value: { url: URL, key } };
    const test = await gateway.post("/v1/admin/providers/test", body);
    expect([test.status, test.json.error?.param]).toEqual([400, "providers.evil.key"]);
  });

  it("is refused after its entry was removed", async () => {
    const { gateway, document } = await start();
    const { key } = document.providers.house;
    const entries: Entry[] = [
      ["providers", "house", null],
      ["providers", "house", { url: OTHER, key }],
    ];
    await refused(gateway, "providers.house.key", ...entries);
  });

  it("may move among the deployments of its model, with their addresses", async () => {
    const deployments = ["a", "b"].map((name) => ({ name, provider: "house", key: `key-${name}` }));
    const { gateway, document, served } = await start({}, { deployments });
    const [a, b] = document.models.m.deployments;
    const renamed = [b, { ...a, name: "c" }];
    expect((await change(gateway, 1, ["models", "m", { deployments: renamed }])).status).toBe(200);
    expect(served().models.m!.deployments!.map(({ key }) => key)).toEqual(["key-b", "key-a"]);
    await refused(
      gateway,
      "models.m.deployments.1.key",
      ["providers", "evil", { url: OTHER }],
      ["models", "m", { deployments: [b, { ...a, provider: "evil" }] }],
    );
  });
});

describe("the test of a provider", () => {
  it("with a stored secret is written to the audit log, without the secret", async () => {
    const { url } = await startUpstream(KEY, ["small"]);
    const { gateway, document } = await start({ url });
    const test = (value: object) =>
      gateway.post("/v1/admin/providers/test", { name: "house", value, models: ["small"] });
    const audit = async () => (await gateway.get("/v1/admin/audit")).json.data;
    await test({ url, key: KEY });
    await test({ url, key: null });
    expect(await audit()).toHaveLength(1);
    expect((await test({ url: `${url}/` })).json.ok).toBe(true);
    const { key } = document.providers.house;
    const [record, ...others] = await audit();
    expect(record).toMatchObject({
      action: "provider.test",
      target: "providers.house",
      after: { url: `${url}/`, key },
    });
    expect(others).toHaveLength(1);
    expect(JSON.stringify(record)).not.toContain(KEY);
  });
});

it("tokens of the machine's Google account are not sent to an address of a stored configuration", async () => {
  const { url, received } = await startCollector();
  const { gateway } = await start();
  for (const credentials of ["default", "/etc/account.json"]) {
    for (const own of [
      { url },
      { dialects: { chat: `${url}/chat/completions` } },
      { kind: "groq" },
    ]) {
      const value = { auth: "google-oauth", credentials, ...own };
      await refused(gateway, "providers.evil.credentials", ["providers", "evil", value]);
      const body = { name: "evil", value, models: ["m"] };
      const { status, json } = await gateway.post("/v1/admin/providers/test", body);
      expect([status, json.error?.param]).toEqual([400, "providers.evil.credentials"]);
    }
  }
  expect(received).toEqual([]);
});
