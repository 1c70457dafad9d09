import { expect, it } from "vitest";
import { pack, share, unpack } from "./matrix.ts";

const rows = [Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)];

it("shares, packs and unpacks without changing a number", () => {
  expect(share(rows)).toEqual(rows);
  expect(unpack(pack(rows), 2)).toEqual(rows);
});

it("copies rows only if they are not the whole shared block in order", () => {
  const shared = share(rows);
  expect(pack(shared).buffer).toBe(shared[0]!.buffer);
  const turned = shared.toReversed();
  expect(pack(turned).buffer).not.toBe(shared[0]!.buffer);
  expect(unpack(pack(turned), 2)).toEqual(turned);
});
