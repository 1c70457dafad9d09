import { expect, it } from "vitest";
import { POLICIES } from "../bandit/policies/index.ts";
import { loadPolicy, policyModule } from "./load-policy.ts";

it("finds every policy of the project in its own file", async () => {
  for (const kind of POLICIES) expect(await loadPolicy(kind.name)).toBe(kind);
  expect(() => policyModule("none")).toThrow(RangeError);
});
