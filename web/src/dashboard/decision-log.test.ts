import { describe, expect, it } from "vitest";
import type { Decision } from "../../../src/client.ts";
import { DecisionLog, type DecisionRow, merged } from "./decision-log.ts";

const rows = (...ids: string[]): DecisionRow[] =>
  ids.map((id) => ({ id, at: 0, text: id, category: undefined, votes: "", cost: undefined }));
const ids = (list: readonly DecisionRow[]) => list.map(({ id }) => id).join("");

it("puts the newest page before the known rows, without duplicates", () => {
  expect(ids(merged(rows("e", "d", "c"), rows("d", "c", "b", "a")))).toBe("edcba");
  expect(ids(merged(rows("c", "b"), rows("c", "b", "a")))).toBe("cba");
});

it("replaces a row that has changed", () => {
  const voted = { ...rows("b")[0]!, votes: "tie" };
  expect(merged([voted], rows("b", "a"))[0]).toBe(voted);
});

it("drops the known rows if there is a gap before them", () => {
  expect(ids(merged(rows("z", "y"), rows("c", "b")))).toBe("zy");
});

/** A log whose decisions are numbered. Each page waits for `answer`, if it is set. */
class FakeLog {
  count = 0;
  answer: Promise<void> | undefined;

  readonly read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const end = before === undefined ? this.count : Number(before);
    await this.answer;
    const from = Math.max(0, end - limit);
    const ids = Array.from({ length: end - from }, (_, i) => String(end - 1 - i));
    const data = ids.map((id) => ({ id, at: "", answers: [], votes: [] }) as unknown as Decision);
    return { object: "list" as const, data, ...(from > 0 && { next: String(from) }) };
  };
}

describe("a log that is followed", () => {
  const numbers = ({ rows }: DecisionLog) => rows.value.map(({ id }) => Number(id));
  const down = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, i) => from - i);

  it("keeps a limited number of rows, and loads older ones again", async () => {
    const fake = new FakeLog();
    fake.count = 300;
    const log = new DecisionLog(fake.read);
    await log.loadMore();
    for (let i = 0; i < 500; i++) {
      fake.count += 20;
      await log.refresh();
      expect(log.rows.value.length).toBeLessThanOrEqual(1200);
    }
    const kept = numbers(log);
    expect(kept.length).toBeGreaterThan(1000);
    expect(kept).toEqual(down(fake.count - 1, kept.at(-1)!));
    await log.loadMore();
    expect(numbers(log)).toEqual(down(fake.count - 1, kept.at(-1)! - 200));
  });

  it("has no gap if new decisions arrive while an older page is being loaded", async () => {
    const fake = new FakeLog();
    fake.count = 1000;
    const log = new DecisionLog(fake.read);
    await log.loadMore();
    const { promise, resolve: proceed } = Promise.withResolvers<void>();
    fake.answer = promise;
    const loading = log.loadMore();
    fake.answer = undefined;
    fake.count = 1100;
    await log.refresh();
    proceed();
    await loading;
    expect(numbers(log)).toEqual(down(1099, 850));
    while (!log.isComplete.value) await log.loadMore();
    expect(numbers(log)).toEqual(down(1099, 0));
  });
});
