import { expect, it } from "vitest";
import { decisionHref, routeOf } from "./route.ts";

it.each([
  ["", { page: "arena" }],
  ["#/", { page: "arena" }],
  ["#/dashboard", { page: "dashboard" }],
  ["#/setup", { page: "setup" }],
  ["#/decisions/", { page: "dashboard" }],
  ["#/decisions/%", { page: "decision", id: "%" }],
  ["#/elsewhere", { page: "nowhere" }],
])("%s", (hash, route) => expect(routeOf(hash)).toEqual(route));

it("a decision is found by its link, whatever its id", () => {
  const id = "a/b#c %";
  expect(routeOf(decisionHref(id))).toEqual({ page: "decision", id });
});
