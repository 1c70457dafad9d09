import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { gatewayFaults } from "../check-gateway.ts";
import { newFolder, optionsOf, SANDBOX } from "../gateway.fixture.ts";
import { refuseOwnAddress } from "./own-address.ts";

const PLACE = { file: "joust.yaml", field: "models.local" };

describe("the address of a provider", () => {
  it.each([
    ["http://127.0.0.1:8080/v1", "127.0.0.1"],
    ["http://localhost:8080/v1", "127.0.0.1"],
    ["http://127.0.0.1:8080/v1", "0.0.0.0"],
    ["http://[::1]:8080/v1", "::"],
    ["http://10.0.0.5:8080/v1", "10.0.0.5"],
  ])("is refused if it is the gateway's own: %s on %s", (url, host) => {
    expect(() => refuseOwnAddress({ url, dialects: {} }, { host, port: 8080 }, PLACE)).toThrow(
      errorText(
        `field "models.local": calls ${url}, which is the address of this gateway; hint: correct the provider's address, or serve on another port, for example: npx joust serve --port 8081`,
      ),
    );
  });

  it("is refused if only one of its dialects has the address", () => {
    const dialects = { messages: "http://127.0.0.1:8080/v1/messages" };
    const provider = { url: "http://gpu:8000/v1", dialects };
    const server = { host: "127.0.0.1", port: 8080 };
    expect(() => refuseOwnAddress(provider, server, PLACE)).toThrow(errorText("/v1/messages"));
  });

  it.each([
    ["http://127.0.0.1:8081/v1", "127.0.0.1", 8080],
    ["http://127.0.0.1:8080/v1", "10.0.0.5", 8080],
    ["http://10.0.0.6:8080/v1", "0.0.0.0", 8080],
    ["http://127.0.0.1:8080/v1", "127.0.0.1", 0],
    ["https://api.openai.com/v1", "0.0.0.0", 8443],
  ])("is accepted if it is another one: %s on %s:%d", (url, host, port) => {
    refuseOwnAddress({ url, dialects: {} }, { host, port }, PLACE);
  });
});

describe("a configuration", () => {
  const faultsOf = async (yaml: string, port: number, env: Record<string, string> = {}) => {
    const options = optionsOf(yaml, { folder: newFolder(), env });
    const server = { ...options.config.server, port };
    const { errors } = await gatewayFaults({ ...options, config: { ...options.config, server } });
    return errors.map(String);
  };

  it("is refused if a model is this gateway", async () => {
    const models = "models: {local: {provider: llamacpp, model: qwen}}";
    const [error, ...others] = await faultsOf(models, 8080);
    expect(error).toContain('field "models.local": calls http://127.0.0.1:8080/v1');
    expect(others).toEqual([]);
    expect(await faultsOf(models, 8081)).toEqual([]);
  });

  it("is refused if a provider in the environment is this gateway, before its models are listed", async () => {
    const env = { LLAMACPP_BASE_URL: "http://localhost:8080" };
    const [error] = await faultsOf(SANDBOX, 8080, env);
    expect(error).toContain(
      'the environment: field "llamacpp": calls http://localhost:8080, which',
    );
  });
});
