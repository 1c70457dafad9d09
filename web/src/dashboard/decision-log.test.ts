import { expect, it } from "vitest";
import { type DecisionRow, merged } from "./decision-log.ts";

const rows = (...ids: string[]): DecisionRow[] =>
  ids.map((id) => ({ id, at: 0, text: id, category: undefined, votes: "", cost: undefined }));
const ids = (list: readonly DecisionRow[]) => list.map(({ id }) => id).join("");

it("the newest page goes over what is known, without doubles", () => {
  expect(ids(merged(rows("e", "d", "c"), rows("d", "c", "b", "a")))).toBe("edcba");
  expect(ids(merged(rows("c", "b"), rows("c", "b", "a")))).toBe("cba");
});

it("a row that has changed is the new one", () => {
  const voted = { ...rows("b")[0]!, votes: "tie" };
  expect(merged([voted], rows("b", "a"))[0]).toBe(voted);
});

it("a gap is not papered over", () => {
  expect(ids(merged(rows("z", "y"), rows("c", "b")))).toBe("zy");
});
