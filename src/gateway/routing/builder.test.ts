import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { newFolder, optionsOf, startGateway } from "../gateway.fixture.ts";
import { checkGateway } from "../gateway.ts";

// Each is found by the reader of some other flag or file; who serves reads of the router that names it.
it.each([
  ["policy: jost", /^joust\.yaml: field "routers\.auto\.policy": "jost" is no policy; .*"joust"\?/],
  ["policy: 'joust:alpha=2'", /"routers\.auto\.policy": .*\{name: joust, options: \{alpha: 2\}\}$/],
  ["policy: ./mine.ts", /"routers\.auto\.policy": "\.\/mine\.ts" does not exist/],
  [
    "encoder: MinLM",
    /"routers\.auto\.encoder": "MinLM" is not an encoder; .*did you mean "MiniLM"\?/,
  ],
  ["bundle: out/none", /"routers\.auto\.bundle": .*out\/none" is not an encoder/],
  ["scores: none.csv", /"routers\.auto\.scores": none\.csv: does not exist/],
])("a router with %s is refused at its field", async (member, message) => {
  await expect(startGateway(`routers:\n  auto:\n    ${member}`)).rejects.toThrow(
    errorText(message),
  );
});

it("a model of a provider without its key is refused, unless somebody else is at its address", async () => {
  const yaml = "models:\n  small: {provider: openai, model: gpt-5.4-nano}";
  await expect(startGateway(yaml)).rejects.toThrow(
    errorText(
      /"models\.small\.provider": is openai, which needs .* OPENAI_API_KEY; hint: export OPENAI_API_KEY/,
    ),
  );
  const proxied = await startGateway(yaml, { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
  // Who only reads the log need not have it.
  expect((await checkGateway(optionsOf(yaml, { folder: newFolder() }))).models).toHaveLength(1);
  const { data } = (await proxied.get("/v1/models")).json;
  // Under the names that joust.yaml has.
  expect(data[1].price).toEqual({ input: 0.2, output: 1.25, cached_input: 0.02 });
});
