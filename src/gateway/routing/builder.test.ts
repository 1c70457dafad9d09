import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { checkGateway } from "../check-gateway.ts";
import { newFolder, optionsOf, startGateway } from "../gateway.fixture.ts";

// The readers of other files find these faults. The error names the field of the router.
it.each([
  [
    "policy: jost",
    /^joust\.yaml: field "routers\.auto\.policy": "jost" is not a policy; .*"joust"\?/,
  ],
  [
    "policy: 'joust:horizon=600'",
    /"routers\.auto\.policy": .*\{name: joust, options: \{horizon: 600\}\}$/,
  ],
  ["policy: ./mine.ts", /"routers\.auto\.policy": "\.\/mine\.ts" does not exist/],
  [
    "encoder: MinLM",
    /"routers\.auto\.encoder": "MinLM" is not an encoder; .*did you mean "MiniLM"\?/,
  ],
  ["bundle: out/none", /"routers\.auto\.bundle": .*out\/none" is not an encoder/],
  ["scores: none.csv", /"routers\.auto\.scores": none\.csv: does not exist/],
])("refuses a router with %s and names its field", async (member, message) => {
  await expect(startGateway(`routers:\n  auto:\n    ${member}`)).rejects.toThrow(
    errorText(message),
  );
});

it("refuses a model whose provider has no key, unless the provider has another address", async () => {
  const yaml = "models:\n  small: {provider: openai, model: gpt-5.4-nano}";
  await expect(startGateway(yaml)).rejects.toThrow(
    errorText(
      /"models\.small\.provider": is openai, which needs .* OPENAI_API_KEY; hint: export OPENAI_API_KEY/,
    ),
  );
  const proxied = await startGateway(yaml, { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
  // Commands that only read the log do not need the key.
  expect((await checkGateway(optionsOf(yaml, { folder: newFolder() }))).models).toHaveLength(1);
  const { data } = (await proxied.get("/v1/models")).json;
  // The names are those in joust.yaml.
  expect(data[1].price).toEqual({ input: 0.2, output: 1.25, cached_input: 0.02 });
});

it("serves a model of the sandbox together with others", async () => {
  const yaml = "models:\n  a: {provider: sandbox, model: abacus-14b}\n  b: {provider: openai}";
  const { get } = await startGateway(yaml, { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
  const { data } = (await get("/v1/models")).json;
  expect(data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by])).toEqual([
    ["auto", "joust"],
    ["a", "sandbox"],
    ["b", "openai"],
  ]);
});
