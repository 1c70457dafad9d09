import { expect, it } from "vitest";
import { type DecisionRow, merged } from "./decision-log.ts";

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
