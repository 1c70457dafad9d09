import { expect, it } from "vitest";
import { fillRandom } from "./fresh-bytes.ts";

it("fills the given part only, with other bytes every time", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 2000; i++) {
    const bytes = Buffer.alloc(20, 7);
    fillRandom(bytes, 2, 18);
    expect([bytes[0], bytes[1], bytes[18], bytes[19]]).toEqual([7, 7, 7, 7]);
    seen.add(bytes.toString("hex", 2, 18));
  }
  expect(seen.size).toBe(2000);
});
