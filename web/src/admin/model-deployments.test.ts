import { expect, it } from "vitest";
import { addedModels, deploymentsOf, namesAt, withDeployments } from "./model-deployments.ts";

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

it("models are added under names that no other model has, and that the configuration allows", () => {
  const added = (...models: string[]) =>
    addedModels({ taken: {}, "house/taken": {} }, "house", models).map(({ name, value }) => [
      name,
      value,
    ]);
  expect(added("free", "taken", "a b", "a_b")).toEqual([
    ["free", { provider: "house" }],
    ["house/taken-2", { provider: "house", model: "taken" }],
    ["a_b", { provider: "house", model: "a b" }],
    ["house/a_b", { provider: "house", model: "a_b" }],
  ]);
});

it("a model is called at each provider by the name that it has there", () => {
  const deployments = [{ provider: "openai" }, { provider: "azure", model: "my-gpt" }];
  const models = { gpt: { model: "gpt-5", deployments }, mini: { provider: "openai" } };
  expect(namesAt("openai", models)).toEqual(["gpt-5", "mini"]);
  expect(namesAt("azure", models)).toEqual(["my-gpt"]);
});
