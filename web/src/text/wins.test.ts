import { expect, it } from "vitest";
import { hundred, netWins, signedWins, winsOf } from "./wins.ts";

it.each([
  [0, "50"],
  [0.16, "58"],
  [-0.5, "25"],
  [1.2, "99"],
  [-1.2, "1"],
])("a quality of %d is %s wins of 100", (quality, wins) => expect(winsOf(quality)).toBe(wins));

it("a share of wins", () => expect(hundred(0.584)).toBe("58"));

it("differences and values after the price, with their signs", () => {
  expect([0.124, -0.2, 0.008, -0.01].map(signedWins)).toEqual([
    "+6",
    "\u221210",
    "+0.4",
    "\u22120.5",
  ]);
  expect([0.144, -1.4].map(netWins)).toEqual(["57", "\u221220"]);
});
