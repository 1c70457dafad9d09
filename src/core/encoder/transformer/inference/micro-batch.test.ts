import fc from "fast-check";
import { expect, it } from "vitest";
import { MicroBatcher } from "./micro-batch.ts";

/** A batcher that doubles numbers, records its batches, and waits for `finish` in each. */
function doubling(limit: number) {
  const batches: number[][] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const batcher = new MicroBatcher(async (items: readonly number[]) => {
    batches.push([...items]);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return items.map((item) => 2 * item);
  }, limit);
  /** Lets the running batch finish and the next one start. */
  const finish = async () => {
    gates.shift()!.resolve();
    await settled();
  };
  return { batcher, batches, gates, finish };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("starts a single request at once", async () => {
  const { batcher, batches, finish } = doubling(10);
  const result = batcher.submit([1]);
  await undefined;
  await undefined;
  expect(batches).toEqual([[1]]);
  await finish();
  expect(await result).toEqual([2]);
});

it("synchronous requests form one batch, and requests made while it runs form the next", async () => {
  const { batcher, batches, finish } = doubling(10);
  const first = [batcher.submit([1]), batcher.submit([2])];
  await settled();
  const later = [batcher.submit([3, 4]), batcher.submit([5]), batcher.submit([])];
  await settled();
  expect(batches).toEqual([[1, 2]]);
  await finish();
  expect(await Promise.all(first)).toEqual([[2], [4]]);
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  await finish();
  expect(await Promise.all(later)).toEqual([[6, 8], [10], []]);
});

it("a single item waits for at most one batch of another caller", async () => {
  const { batcher, batches, finish } = doubling(4);
  const many = batcher.submit(Array.from({ length: 100 }, (_, i) => i));
  await settled();
  const one = batcher.submit([1000]);
  await finish();
  expect(batches[1]).toContain(1000);
  expect(batches[1]).toHaveLength(4);
  await finish();
  expect(await one).toEqual([2000]);
  while (batches.flat().length < 101) await finish();
  await finish();
  expect(await many).toEqual(Array.from({ length: 100 }, (_, i) => 2 * i));
});

it("gives each caller its results in order, in batches within the limit", async () => {
  const requests = fc.array(fc.array(fc.integer(), { maxLength: 9 }), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(requests, fc.integer({ min: 1, max: 7 }), async (requests, limit) => {
      const { batcher, batches, gates, finish } = doubling(limit);
      const results = Promise.all(requests.map((items) => batcher.submit(items)));
      await settled();
      while (gates.length > 0) await finish();
      expect(await results).toEqual(requests.map((items) => items.map((item) => 2 * item)));
      for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(limit);
      expect(batches.length).toBe(Math.ceil(requests.flat().length / limit));
    }),
    { seed: 1 },
  );
});

it("a failed batch rejects only the requests with items in it", async () => {
  const { batcher, gates, finish } = doubling(4);
  const split = batcher.submit([1, 2, 3, 4, 5]);
  await settled();
  const other = batcher.submit([6]);
  gates.shift()!.reject(new Error("broken"));
  await expect(split).rejects.toThrow("broken");
  await settled();
  await finish();
  expect(await other).toEqual([12]);
  expect(gates).toEqual([]); // the fifth item of the rejected request was not processed
});

it("fail() rejects all requests, and later ones succeed", async () => {
  const { batcher, batches, finish } = doubling(1);
  const lost = [batcher.submit([1]), batcher.submit([2])];
  await settled();
  batcher.fail(new Error("gone"));
  for (const result of lost) await expect(result).rejects.toThrow("gone");
  const next = batcher.submit([3]);
  await finish();
  await finish();
  expect(await next).toEqual([6]);
  expect(batches).toEqual([[1], [3]]);
});
