import fc from "fast-check";
import { expect, it } from "vitest";
import { inView } from "./virtual-list.tsx";

it("renders every visible row and few others, however long the list is", () => {
  const positive = fc.integer({ min: 1, max: 2000 });
  fc.assert(
    fc.property(fc.nat(1e7), positive, positive, fc.nat(1e5), (top, height, rowHeight, count) => {
      const { first, last } = inView(top, height, rowHeight, count);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(last).toBeLessThanOrEqual(count);
      expect(last - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 17);
      const seen = {
        first: Math.floor(top / rowHeight),
        last: Math.ceil((top + height) / rowHeight),
      };
      for (const row of [seen.first, seen.last - 1]) {
        if (row < count) expect(row >= first && row < last).toBe(true);
      }
    }),
    { seed: 3 },
  );
});
