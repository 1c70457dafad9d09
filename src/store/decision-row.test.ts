import { expect, it } from "vitest";
import { decisionOf, decisionRow } from "./decision-row.ts";
import { routed } from "./events.fixture.ts";

it("a decision is read as it was written", () => {
  const decision = routed(1, { owner: "k1", session: "s1", reasons: { duel: "requested" } });
  expect(decisionOf(decisionRow(decision))).toEqual(decision);
});

it("a requested duel of version 0.1 is read under its present name", () => {
  const { body, ...row } = decisionRow(routed(1, { reasons: { guard: "a", duel: "requested" } }));
  const old = body.replace('"requested"', '"asked"');
  expect(old).not.toBe(body);
  expect(decisionOf({ ...row, body: old }).reasons).toEqual({ guard: "a", duel: "requested" });
});
