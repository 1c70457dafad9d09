import fc from "fast-check";
import { expect, it } from "vitest";
import { Lru } from "./lru.ts";

const sizeOf = (key: string, value: string) => key.length + value.length;

it("drops the least recently used entry", () => {
  const lru = new Lru(6, sizeOf);
  for (const key of ["a", "b", "c"]) lru.set(key, "1");
  expect(lru.get("a")).toBe("1");
  lru.set("d", "1");
  expect(["a", "b", "c", "d"].map((key) => lru.get(key))).toEqual(["1", undefined, "1", "1"]);
});

it("does not drop other entries for one that is too large", () => {
  const lru = new Lru(6, sizeOf);
  lru.set("a", "1");
  lru.set("b", "larger than all");
  expect([lru.get("a"), lru.get("b")]).toEqual(["1", undefined]);
  lru.set("a", "now too large as well");
  expect([lru.get("a"), lru.bytes]).toEqual([undefined, 0]);
});

it("keeps as many entries as fit, with their last values", () => {
  const steps = fc.array(fc.tuple(fc.string({ maxLength: 2 }), fc.string({ maxLength: 4 })));
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 30 }), (steps, capacity) => {
      const lru = new Lru(capacity, sizeOf);
      let order: [string, string][] = [];
      for (const [key, value] of steps) {
        lru.set(key, value);
        order = [...order.filter(([other]) => other !== key), [key, value]];
        if (sizeOf(key, value) > capacity) order.pop();
        const size = () => order.reduce((sum, entry) => sum + sizeOf(...entry), 0);
        while (size() > capacity) order.shift();
        expect(lru.bytes).toBe(size());
      }
      for (const [key, value] of order) expect(lru.get(key)).toBe(value);
    }),
    { seed: 1 },
  );
});
