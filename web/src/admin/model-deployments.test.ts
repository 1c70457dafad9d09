import { expect, it } from "vitest";
import { addedModel, deploymentsOf, withDeployments } from "./model-deployments.ts";

const PLAIN = { provider: "openai", price: { input: 1, output: 2 } };

it("a model that names a provider has one deployment", () => {
  expect(deploymentsOf(PLAIN)).toEqual([{ provider: "openai" }]);
  expect(deploymentsOf({})).toEqual([]);
});

it("adding and removing a deployment returns to the entry before", () => {
  const two = withDeployments(PLAIN, [...deploymentsOf(PLAIN), { provider: "azure", weight: 2 }]);
  expect(two).toEqual({
    price: PLAIN.price,
    deployments: [{ provider: "openai" }, { provider: "azure", weight: 2 }],
  });
  expect(withDeployments(two, deploymentsOf(two).slice(0, 1))).toEqual(PLAIN);
  expect(withDeployments(two, deploymentsOf(two).slice(1))).toEqual({
    price: PLAIN.price,
    deployments: [{ provider: "azure", weight: 2 }],
  });
});

it("a model is added under a name of its own, which the configuration allows", () => {
  const added = (model: string) => addedModel({ taken: {} }, "house", model);
  expect(added("free")).toMatchObject({ name: "free", value: { provider: "house" } });
  expect(added("taken")).toMatchObject({
    name: "house/taken",
    value: { provider: "house", model: "taken" },
  });
  expect(added("a b")).toMatchObject({ name: "a_b", value: { model: "a b" } });
});
