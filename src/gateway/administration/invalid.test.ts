import { join } from "node:path";
import { expect, it } from "vitest";
import { seal } from "../../store/seal.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { chat, newFolder, SANDBOX, startGateway, type TestGateway } from "../gateway.fixture.ts";

const start = (folder: string, env: Readonly<Record<string, string>> = {}) =>
  startGateway(SANDBOX, { folder, env, managed: { by: "store" } });

const change = (gateway: TestGateway, basedOn: number, name: string, value: object) =>
  gateway.post("/v1/admin/configuration", {
    based_on: basedOn,
    changes: [{ section: name === "auto" ? "routers" : "models", name, value }],
  });

/** Saves a revision as another version of Joust would have done, whose settings this version does not know. */
async function saveForeign(folder: string, revision: number, routers: object): Promise<void> {
  const store = await openSqlite(join(folder, "joust.db"));
  const before = await store.configuration();
  const document = { providers: {}, models: {}, metrics: {}, ...JSON.parse(before!.document) };
  const stored = {
    revision,
    at: revision,
    document: JSON.stringify({ ...document, routers }),
    sealed: seal("{}", `configuration ${revision}`, undefined),
  };
  const record = { id: `${revision}`, at: revision, action: "test", target: "routers", revision };
  expect(await store.saveConfiguration(stored, record)).toBe(true);
  await store.close();
}

it("a gateway whose newest configuration is invalid serves the last valid one, and can be corrected", async () => {
  const folder = newFolder();
  const first = await start(folder);
  const model = { provider: "sandbox", model: "abacus-14b" };
  expect((await change(first, 0, "mine", model)).status).toBe(200);
  await first.close();
  await saveForeign(folder, 2, { auto: { from_the_future: true } });
  const gateway = await start(folder);
  expect(gateway.lines.join("\n")).toMatch(/routers\.auto\.from_the_future.*cannot be served/);
  const shown = (await gateway.get("/v1/admin/configuration")).json;
  expect(shown).toMatchObject({
    revision: 2,
    document: { models: { mine: model } },
    invalid: { revision: 2, served: 1, problem: "routers.auto.from_the_future: is not known" },
  });
  expect((await gateway.post("/v1/chat/completions", chat("hi"))).json.model).toBe("mine");
  const { revision, nodes } = (await gateway.get("/v1/admin/system")).json;
  expect([revision, nodes[0].revision]).toEqual([1, 1]);
  const corrected = await change(gateway, 2, "auto", { explore: 0.1 });
  expect([corrected.json.revision, corrected.json.invalid]).toEqual([3, undefined]);
  const store = await openSqlite(join(folder, "joust.db"));
  expect((await store.configuration(2))!.document).toContain("from_the_future");
  await store.close();
});

it("a configuration that only the environment makes invalid is served again after it is complete", async () => {
  const folder = newFolder();
  const env = { OPENAI_API_KEY: "sk-test-0123456789abcdef" };
  const first = await start(folder, env);
  expect((await change(first, 0, "gpt", { provider: "openai" })).status).toBe(200);
  await first.close();
  const second = await start(folder);
  const { invalid } = (await second.get("/v1/admin/configuration")).json;
  expect(invalid).toMatchObject({ revision: 1, served: 0 });
  expect(invalid.problem).toContain("OPENAI_API_KEY");
  // Simulated answers would be worse than none.
  const refused = await second.post("/v1/chat/completions", chat("hi"));
  expect([refused.status, refused.json.error.code]).toEqual([503, "configuration_invalid"]);
  await second.close();
  const third = await start(folder, env);
  expect((await third.get("/v1/admin/configuration")).json.invalid).toBeUndefined();
  expect([...third.serving().models.keys()]).toContain("gpt");
});
