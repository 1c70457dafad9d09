import { expect, it } from "vitest";
import { entryOf, fieldsOf } from "./router-settings.ts";

const SETTINGS = {
  models: ["a", "b"],
  mode: "observe",
  fallback: "a",
  cost_quality_tradeoff: 4.5,
  budget: 0.01,
  duels: { mode: "auto", share: 0.125, spend: 0.3 },
  judge: { model: "b", share: 0.05, weight: 0.5 },
  guard: false,
  explore: 0.02,
  weigh_voters: true,
} as const;

it("a form that nobody has changed gives the same settings", () => {
  const { explore: _, weigh_voters: __, ...shown } = SETTINGS;
  expect(entryOf(fieldsOf(SETTINGS, ["a", "b", "c"]))).toEqual(shown);
});

it("members that the form does not show stay, and emptied ones are removed", () => {
  const fields = fieldsOf(SETTINGS, ["a", "b"]);
  const emptied = { ...fields, isWholePool: true, fallback: "", budget: "", judge: "" };
  const before = { ...SETTINGS, aliases: ["x"], duels: { ...SETTINGS.duels, grace_seconds: 5 } };
  const entry = entryOf(emptied, before);
  expect(Object.keys(entry)).not.toEqual(expect.arrayContaining(["models"]));
  expect([entry.fallback, entry.budget, entry.judge]).toEqual([undefined, undefined, undefined]);
  expect(entry).toMatchObject({ aliases: ["x"], duels: { grace_seconds: 5, share: 0.125 } });
});

it("a new router routes among all models", () => {
  const { isWholePool, pool, mode } = fieldsOf(undefined, ["a", "b"]);
  expect([isWholePool, pool, mode]).toEqual([true, ["a", "b"], "apply"]);
});

it("votes of a new judge have the default weight of the configuration", () => {
  expect(fieldsOf(undefined, []).judgeWeight).toBe("1");
});
