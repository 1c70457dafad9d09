import { expect, it } from "vitest";
import { originOf } from "./origin.ts";

it.each([
  [{ voter: "" }, undefined],
  [{ voter: "ada" }, undefined],
  [{ voter: "key/judge:x" }, undefined],
  [
    { voter: "judge:gpt", traits: { length: 0.5, own: -1 } },
    { kind: "judge:gpt", length: 0.5, own: -1 },
  ],
  [{ voter: "judge:gpt" }, { kind: "judge:gpt" }],
  [{ voter: "ada", metric: { name: "passed", value: true } }, { kind: "metric:passed" }],
] as const)("the origin of a vote of %j", (vote, origin) => {
  expect(originOf(vote)).toEqual(origin);
});
