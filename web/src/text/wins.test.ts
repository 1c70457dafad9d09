import { expect, it } from "vitest";
import { hundred, winsOf } from "./wins.ts";

it.each([
  [0, "50"],
  [0.16, "58"],
  [-0.5, "25"],
  [1.2, "99"],
  [-1.2, "1"],
])("a quality of %d is %s wins of 100", (quality, wins) => expect(winsOf(quality)).toBe(wins));

it("a share of wins", () => expect(hundred(0.584)).toBe("58"));
