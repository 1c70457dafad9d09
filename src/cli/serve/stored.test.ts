import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { newFolder, SANDBOX, startGateway } from "../../gateway/gateway.fixture.ts";
import { seal } from "../../store/seal.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { configCommand } from "../commands/serve.ts";
import { applyScores } from "../evaluate/apply.ts";
import type { EvaluateFlags } from "../evaluate/flags.ts";
import { openSetup } from "../evaluate/setup.ts";
import { runForecast } from "../forecast/forecast.ts";
import { databaseOf, storeOf } from "../shared/store-flags.ts";
import { check } from "./check.ts";
import { checkedConfiguration, servedConfiguration } from "./configuration.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A data folder whose store has a configuration with one model and the router `small`. */
async function storedFolder(): Promise<string> {
  const folder = newFolder();
  const gateway = await startGateway(SANDBOX, { folder, managed: { by: "store" } });
  const changes = [
    { section: "models", name: "mine", value: { provider: "sandbox", model: "abacus-14b" } },
    { section: "models", name: "other", value: { provider: "sandbox", model: "pebble-mini" } },
    { section: "routers", name: "small", value: { cost_quality_tradeoff: 7 } },
  ];
  const saved = await gateway.post("/v1/admin/configuration", { based_on: 0, changes });
  expect(saved.status).toBe(200);
  await gateway.close();
  return folder;
}

/** Collects what is written to standard output and standard error. */
function watchOutput() {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  }
  return () => lines.join("");
}

it("commands without a file use the configuration that was made on the page", async () => {
  const data = await storedFolder();
  const { config, revision } = await servedConfiguration({ data });
  expect([Object.keys(config.models), revision]).toEqual([["mine", "other"], 1]);
  const { placement } = await checkedConfiguration({ data });
  expect(placement.models.map(({ spec }) => spec.name)).toEqual(["mine", "other"]);
  const output = watchOutput();
  expect(await check(undefined, { data })).toBe(0);
  expect(output()).toMatch(
    /configuration in the store, revision 1: valid\n {2}models: mine, other/,
  );
  await runForecast({ data, router: "small", horizon: 10, futures: 10, json: true });
  expect(output()).toContain('"router":"small"');
});

it("an unknown revision is refused with the number of the newest one", async () => {
  const data = await storedFolder();
  const run = (...args: string[]) =>
    configCommand().parseAsync([...args, "--data", data], { from: "user" });
  await expect(run("--revision", "7")).rejects.toMatchObject({
    problem: "there is no revision 7",
    hint: "the newest revision is 1",
  });
});

it("a forecast reads the log of the gateway that the configuration describes", async () => {
  vi.stubEnv("JOUST_DATABASE", "postgres://user:password@127.0.0.1:1/others");
  const config = join(newFolder(), "joust.yaml");
  writeFileSync(config, `${SANDBOX}\nstore: {url: "postgres://user:password@127.0.0.1:1/own"}\n`);
  // Nothing listens on this port, so the error shows which database was opened.
  await expect(runForecast({ config, horizon: 10, futures: 10 })).rejects.toThrow(
    "127.0.0.1:1/own",
  );
  // A file without a database means the data folder, as for serve.
  writeFileSync(config, SANDBOX);
  const { config: own } = await servedConfiguration({ config, data: newFolder() });
  expect(databaseOf(storeOf(own, {}))).toBeUndefined();
});

it("an evaluation writes its scores into the configuration of the store, not into a new file", async () => {
  const data = await storedFolder();
  const { config, file, revision } = await servedConfiguration({ data });
  const target = { config, file, revision, router: "small" };
  const text = await applyScores(target, [], join(data, "scores.csv"), { data });
  expect(text).toContain("saved revision 2");
  const store = await openSqlite(join(data, "joust.db"));
  const { document } = (await store.configuration())!;
  const [record] = await store.audit({ limit: 1 });
  await store.close();
  expect(JSON.parse(document).routers.small).toEqual({
    cost_quality_tradeoff: 7,
    scores: join(data, "scores.csv"),
  });
  expect(record).toMatchObject({ action: "evaluate", target: "routers.small", revision: 2 });
  expect(existsSync("joust.yaml")).toBe(false);
  await expect(applyScores(target, [], join(data, "scores.csv"), { data })).rejects.toThrow(
    "was changed during the evaluation",
  );
});

it.each([
  ["a data folder that was served but never configured", true],
  ["a data folder that does not exist yet", false],
])("an evaluation without a file saves its scores in %s", async (_, isServed) => {
  const data = join(newFolder(), "data");
  if (isServed) await (await startGateway(SANDBOX, { folder: data })).close();
  const target = { ...(await servedConfiguration({ data })), router: "auto" };
  const scores = join(data, "scores.csv");
  const text = await applyScores(target, [], scores, { data });
  expect(text).toContain("saved revision 1 of the configuration in the store");
  expect(existsSync("joust.yaml")).toBe(false);
  const { config, revision } = await servedConfiguration({ data });
  expect([revision, config.routers.auto!.scores]).toEqual([1, scores]);
});

it.each([
  ["revision 1", 1],
  ["the default configuration", 0],
])(
  "an evaluation that would replace an invalid revision is refused before it starts: %s",
  async (used, valid) => {
    const data = valid === 0 ? newFolder() : await storedFolder();
    if (valid === 0) await (await startGateway(SANDBOX, { folder: data })).close();
    const store = await openSqlite(join(data, "joust.db"));
    const revision = valid + 1;
    const routers = { auto: { from_the_future: true } };
    const document = JSON.stringify({ providers: {}, models: {}, metrics: {}, routers });
    const sealed = seal("{}", `configuration ${revision}`, undefined);
    const record = { id: "1", at: 1, action: "test", target: "routers", revision };
    await store.saveConfiguration({ revision, at: 1, document, sealed }, record);
    await store.close();
    const output = watchOutput();
    const served = await servedConfiguration({ data });
    expect([served.revision, output()]).toEqual([valid, expect.stringContaining(used)]);
    const router = valid === 0 ? "auto" : "small";
    await expect(openSetup("prompts.jsonl", { data, router } as EvaluateFlags)).rejects.toThrow(
      /has an invalid newest revision.*from_the_future/,
    );
  },
);

it("an evaluation of a router with one model is refused with the router's name", async () => {
  const folder = newFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = file("joust.yaml", "routers: {lone: {models: [abacus-14b]}, auto: {}}\n");
  const prompts = file("p.txt", "Why?\n");
  const open = (flags: object) =>
    openSetup(prompts, { data: folder, config, regex: "x", ...flags } as EvaluateFlags);
  await expect(open({ router: "lone" })).rejects.toThrow(
    '--router: the router "lone" has one enabled model',
  );
  const exclude = ["abacus-14b", "pebble-mini", "summit-pro"];
  await expect(open({ router: "lone", exclude })).rejects.toThrow(
    "--exclude: leaves no enabled model",
  );
});

it("a folder without a store has the default configuration", async () => {
  const data = newFolder();
  const { config, revision } = await servedConfiguration({ data });
  expect([config.models, revision]).toEqual([{}, undefined]);
  expect(existsSync(join(data, "joust.db"))).toBe(false);
});
