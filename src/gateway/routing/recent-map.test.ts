import { expect, it } from "vitest";
import { RecentMap } from "./recent-map.ts";

it("keeps the newest half of its entries, and never more than its limit", () => {
  const most = 10;
  const map = new RecentMap<number>(most);
  for (let i = 0; i < 100; i++) {
    map.set(`key ${i}`, i);
    const kept = Array.from({ length: i + 1 }, (_, k) => map.get(`key ${k}`)).filter(
      (value) => value !== undefined,
    );
    expect(kept.length).toBeLessThanOrEqual(most);
    const newest = Array.from({ length: Math.min(i + 1, most / 2) }, (_, back) => i - back);
    expect(kept.toReversed().slice(0, newest.length)).toEqual(newest);
  }
});

it("keeps an entry that is set again, and forgets one that is deleted", () => {
  const map = new RecentMap<number>(10);
  for (let i = 0; i < 100; i++) {
    map.set("head", i);
    map.set(`key ${i}`, i);
    expect(map.get("head")).toBe(i);
  }
  map.delete("head");
  expect(map.get("head")).toBeUndefined();
});
