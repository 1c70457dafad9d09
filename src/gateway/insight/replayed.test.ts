import { expect, it, onTestFinished } from "vitest";
import { Random } from "../../core/random/random.ts";
import { newDecisionId, sampleNumber } from "../../store/decision-id.ts";
import { answered, routed, T0 } from "../../store/events.fixture.ts";
import type { DecisionEvent } from "../../store/events.ts";
import { newFiles } from "../../store/folder.fixture.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { BUCKET_MS } from "../../store/tally.ts";
import { recount } from "./replayed.ts";

const newFile = newFiles();
const WINDOW = { hours: 1, from: T0, to: T0 + 12 * BUCKET_MS, step: 12 * BUCKET_MS };

/** A store with 2000 decisions, of which single answers are stored with this probability. */
async function served(sample: number, seed: number) {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  const random = Random.seeded(seed);
  const stored: DecisionEvent[] = [];
  const counted: DecisionEvent[] = [];
  for (let n = 0; n < 2000; n++) {
    const at = T0 + n * 1000;
    const id = newDecisionId(at);
    const isDuel = random.uniform() < 0.2;
    const pair = isDuel ? (["ant", "bee"] as const) : (["cat", "cat"] as const);
    const own = isDuel ? 1 : sample;
    const list = sampleNumber(id) < own ? stored : counted;
    list.push(routed(n, { at, id, pair, sample: own }));
    const model = isDuel ? "ant" : "cat";
    list.push(answered(n, 0, { at, decision: id, model, cost: isDuel ? 1 / 512 : 1 / 1024 }));
  }
  await store.record(stored, counted);
  return store;
}

it("counts a window again from its events, exactly", async () => {
  const store = await served(1, 1);
  expect(await recount(store, "auto", WINDOW)).toEqual(
    await store.tallies({ router: "auto", ...WINDOW }),
  );
});

it("takes the costs of a large pool from the tallies, because its rows do not have them", async () => {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  const models = Array.from({ length: 100 }, (_, k) => `model-${k}`);
  const costs = Float64Array.from(models, (_, k) => k / 1024);
  const priced = { "": { priced: 1 } };
  await store.record([
    routed(1, { pair: ["ant", "ant"] }),
    answered(1, 0, { model: "ant", priced, always: { models, costs, doubts: costs } }),
  ]);
  const tallies = await store.tallies({ router: "auto", ...WINDOW });
  expect(tallies).toHaveLength(102);
  expect(await recount(store, "auto", WINDOW)).toEqual(tallies);
});

it("estimates the counts of a window from a sample without bias", async () => {
  const rate = 0.2;
  const all = async (store: SqliteStore, read: typeof recount) =>
    (await read(store, "auto", WINDOW)).find(({ model }) => model === "")!.counts;
  const errors: number[] = [];
  for (let seed = 0; seed < 12; seed++) {
    const store = await served(rate, seed);
    const truth = await all(store, () => store.tallies({ router: "auto", ...WINDOW }));
    const estimate = await all(store, recount);
    expect(estimate.duels).toBe(truth.duels);
    const singles = truth.shown - truth.duels;
    const sd = Math.sqrt((singles * (1 - rate)) / rate);
    expect(Math.abs(estimate.shown - truth.shown)).toBeLessThan(5 * sd);
    expect(Math.abs(estimate.cost - truth.cost)).toBeLessThan((5 / 1024) * sd);
    errors.push((estimate.shown - truth.shown) / sd);
  }
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(errors.length));
});
