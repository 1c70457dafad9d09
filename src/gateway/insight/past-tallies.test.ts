import { afterAll, expect, it } from "vitest";
import { answered, routed, T0, vote } from "../../store/events.fixture.ts";
import { newFiles } from "../../store/folder.fixture.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import type { TallyQuery } from "../../store/store.ts";
import { windowOf } from "./numbers.ts";
import { PastTallies } from "./stats.ts";

const HOUR = 3_600_000;
const newFile = newFiles();
const store = await openSqlite(newFile());
afterAll(() => store.close());

let logged = 0;
/** A decision with its answers and a vote, a number of hours after the beginning. */
async function happen(hours: number): Promise<void> {
  const n = logged++;
  const at = T0 + hours * HOUR;
  await store.record([routed(n, { at }), answered(n, 0, { at }), answered(n, 1, { at })]);
  await store.append([vote(n, { outcome: "a" }, { at })]);
}

it("returns what the store has and reads old steps only once", async () => {
  const queries: TallyQuery[] = [];
  const past = new PastTallies({
    tallies: (query) => {
      queries.push(query);
      return store.tallies(query);
    },
  });
  for (let hour = 0; hour < 60; hour++) {
    await happen(hour + 0.2);
    if (hour % 7 === 0) await happen(hour + 0.9);
    for (const hours of [1, 24, 168]) {
      const query = { router: "auto", ...windowOf(hours, T0 + (hour + 1) * HOUR) };
      expect(await past.read(query)).toEqual(await store.tallies(query));
    }
  }
  // Only the last hours of the week are read again.
  const { from, to } = queries.at(-1)!;
  expect(to - from).toBeLessThan(4 * HOUR);
});

it("reads an earlier window again, and everything after `forget`", async () => {
  const past = new PastTallies(store);
  const query = (hours: number) => ({ router: "auto", ...windowOf(24, T0 + hours * HOUR) });
  for (const hours of [60, 30, 59]) {
    expect(await past.read(query(hours))).toEqual(await store.tallies(query(hours)));
  }
  await happen(40);
  past.forget();
  expect(await past.read(query(60))).toEqual(await store.tallies(query(60)));
});

it("does not keep counts that were being read when it was told to forget", async () => {
  const [asked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const past = new PastTallies({
    tallies: async (query) => {
      const tallies = await store.tallies(query);
      asked.resolve();
      await free.promise;
      return tallies;
    },
  });
  const query = { router: "auto", ...windowOf(24, T0 + 60 * HOUR) };
  const reading = past.read(query);
  await asked.promise;
  await happen(41);
  past.forget();
  free.resolve();
  await reading;
  expect(await past.read(query)).toEqual(await store.tallies(query));
});
