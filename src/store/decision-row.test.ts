import { expect, it } from "vitest";
import { answerOf, answerRow, decisionOf, decisionRow } from "./decision-row.ts";
import { answered, routed } from "./events.fixture.ts";

/** Expected costs of one request for each of some models. */
function always(count: number) {
  const models = Array.from({ length: count }, (_, k) => `model-${k}`);
  const costs = Float64Array.from(models, (_, k) => k / 3);
  return { models, costs, doubts: costs.map((cost) => cost / 7) };
}

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

it("an answer is read as it was written, except for the costs of a large pool", () => {
  const answer = answered(1, 0, { always: always(64) });
  expect(answerOf(answerRow(answer))).toEqual(answer);
  expect(answerOf(answerRow(answered(1, 0, { always: always(65) }))).always).toBe("counted");
});

it.each([
  [{ status: "ok" }, null],
  [{ status: "ok", fallbacks: [{ model: "ant", reason: "timeout" }] }, "fallback"],
  [{ status: "failed", fallbacks: [{ model: "ant", reason: "timeout" }] }, "failed"],
  [{ status: "cancelled" }, "cancelled"],
] as const)("an answer %j is searched by the outcome %s", (over, outcome) => {
  expect(answerRow(answered(1, 0, over)).searched).toEqual({
    model: "bee",
    outcome,
    cost: 0.001,
    latency_ms: 250,
  });
});
