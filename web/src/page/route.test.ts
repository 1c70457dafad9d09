import { expect, it } from "vitest";
import { decisionHref, routeOf } from "./route.ts";

it.each([
  ["", { page: "arena" }],
  ["#/", { page: "arena" }],
  ["#/dashboard", { page: "dashboard" }],
  ["#/setup", { page: "setup" }],
  ["#/decisions/", { page: "dashboard" }],
  ["#/decisions/%", { page: "decision", id: "%" }],
  ["#/admin", { page: "admin", section: "providers" }],
  ["#/admin/keys", { page: "admin", section: "keys" }],
  ["#/admin/none", { page: "unknown" }],
  ["#/elsewhere", { page: "unknown" }],
])("%s", (hash, route) => expect(routeOf(hash)).toEqual(route));

it("a link to a decision leads to it, whatever characters its id has", () => {
  const id = "a/b#c %";
  expect(routeOf(decisionHref(id))).toEqual({ page: "decision", id });
});
