import { expect, it, onTestFinished } from "vitest";
import { DAY_MS, newDecisionId } from "../decision-id.ts";
import { answered, T0 } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { GroupCommit } from "../group-commit.ts";
import { StoreUnavailable } from "../store-error.ts";
import { BUCKET_MS, monthOf } from "../tally.ts";
import { recordInBatches } from "./batch.ts";
import { SqliteStore } from "./sqlite-store.ts";

const newFile = newFiles();

it("a batch of two days that is sent again after the second failed counts every answer once", async () => {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  const midnight = Math.ceil(T0 / DAY_MS) * DAY_MS;
  const days: number[] = [];
  let isFull = true;
  const log = new GroupCommit(
    {
      append: (events) => store.append(events),
      record: (events, countedOnly = []) =>
        recordInBatches(events, countedOnly, async (batch) => {
          days.push(batch.day);
          if (isFull && batch.day === midnight / DAY_MS) throw new StoreUnavailable("disk is full");
          return store.recordBatch(batch);
        }),
    },
    { delayMs: 1e6 },
  );
  for (const at of [midnight - 20, midnight - 10, midnight + 10, midnight + 20]) {
    const answer = answered(1, 0, { decision: newDecisionId(at), at, owner: "key", cost: 1 });
    log.log(answer, at === midnight - 20 || at === midnight + 20);
  }
  await log.flush();
  await log.flush();
  expect(new Set(days).size).toBe(2);
  expect(log.stats).toMatchObject({ waiting: 4, down: true });
  isFull = false;
  await log.flush();
  expect(log.stats).toMatchObject({ waiting: 0, dropped: 0 });
  const months = new Set([monthOf(midnight - 10), monthOf(midnight + 10)]);
  const spent = await Promise.all([...months].map((month) => store.spent("key", month)));
  expect(spent.reduce((sum, dollars) => sum + dollars)).toBe(4);
  const span = { from: midnight - BUCKET_MS, to: midnight + BUCKET_MS, step: BUCKET_MS };
  const tallies = await store.tallies({ router: "auto", ...span });
  const total = tallies.filter(({ model }) => model === "").map(({ counts }) => counts.answers);
  expect(total).toEqual([2, 2]);
});
