import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { routedIn, votedIn, World } from "../../src/learner/world.fixture.ts";
import { configured, T0 } from "../../src/store/events.fixture.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { joust, newFolder, ROOT, start } from "./joust.fixture.ts";

const SMALL = ["--futures", "10", "--horizon", "100"];

it("forecasts from a log without changing it, with the same result for the same log", async () => {
  const data = newFolder();
  const store = new SqliteStore(join(data, "joust.db"), Date.now);
  const world = new World(1, 4);
  await store.append([configured({ pool: world.pool, encoder: "world", weighVoters: false })]);
  for (const served of world.serve(60, 0.2, 1)) {
    const at = T0 + served.t * 1000;
    const decision = routedIn(world, served, at);
    await store.record([decision]);
    if (!served.outcome) continue;
    await store.append([votedIn(decision, { outcome: served.outcome }, at)]);
  }
  const head = await store.head("auto");
  await store.close();
  const run = () => joust("forecast", "--data", data, ...SMALL, "--json");
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, ""]);
  const found = JSON.parse(stdout);
  expect(found).toMatchObject({ router: "auto", version: head, horizon: 100, futures: 10 });
  expect(found.learned).toBeGreaterThan(5);
  expect(["now", "later", "never"]).toContain(found.verdict);
  expect((await run()).stdout).toBe(stdout);
  const text = (await joust("forecast", "--data", data, ...SMALL)).stdout;
  expect(text).toMatch(/^Router auto, after \d+ votes: routing beats the best single model with/);
  expect(text).toMatch(/Routing pays now|more votes until|Not with this pool/);
});

it("forecasts from an evaluation, and refuses a policy without a posterior", async () => {
  const folder = newFolder();
  const scores = join(ROOT, "data/scores/routerbench.csv");
  const told = await start(["forecast", "--scores", scores, "--tradeoff", "0", ...SMALL], folder)
    .end;
  expect([told.code, told.stderr]).toEqual([0, ""]);
  expect(told.stdout).toMatch(/^Router auto, after 0 votes: /);
  writeFileSync(join(folder, "joust.yaml"), "routers: {auto: {policy: random}}\n");
  const refused = await start(["forecast", ...SMALL], folder).end;
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/has the policy random, which has no posterior/);
});

it("says that votes which no gateway has learned are left out", async () => {
  const folder = newFolder();
  writeFileSync(
    join(folder, "votes.jsonl"),
    '{"at": "2026-11-15T12:00:00Z", "query": "Why?", "a": "abacus-14b", "b": "summit-pro", "outcome": "a"}\n',
  );
  expect((await start(["votes", "import", "votes.jsonl"], folder).end).code).toBe(0);
  const found = await start(["forecast", ...SMALL], folder).end;
  expect(found.stdout).toMatch(/^Router auto, after 0 votes: /);
  expect(found.stderr).toContain(
    "the log has votes of the router auto that no gateway has learned",
  );
});
