import { describe, expect, it } from "vitest";
import { messageOf } from "../core/errors/joust-error.ts";
import { gatewayFaults, probeGateway } from "./check-gateway.ts";
import { ConfigError } from "./config/read-config.ts";
import { configOf, newFolder, optionsOf, startHost } from "./gateway.fixture.ts";
import { missingKeys } from "./providers/model-specs.ts";

/** The messages of all errors that reading a configuration reports. */
function errorsOf(yaml: string): string[] {
  try {
    configOf(yaml);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [error, ...error.others].map(messageOf);
  }
}

describe("a check reports all errors at once", () => {
  it("of the schema, with line and field", () => {
    const yaml = `server: {port: x, hots: 1, prot: 2}
store: {sample: 7}
models:
  m: {provider: openai, retries: -1}
`;
    expect(errorsOf(yaml).map((text) => text.slice(0, text.indexOf('":')))).toEqual([
      'joust.yaml:1: field "server.port',
      'joust.yaml:1: field "server.hots',
      'joust.yaml:1: field "server.prot',
      'joust.yaml:2: field "store.sample',
      'joust.yaml:4: field "models.m.retries',
    ]);
  });

  it("between members, and of missing variables", () => {
    const yaml = `
keys: {a: {key: "\${MISSING_KEY}"}}
models:
  a: {provider: nobody}
  b: {}
routers:
  r: {models: [c]}
`;
    const errors = errorsOf(yaml).join("\n");
    expect(errors).toContain("MISSING_KEY");
    expect(errors).toContain('"nobody" is not known');
    expect(errors).toContain('models.b.provider": is missing');
    expect(errors).toContain('"c" is not known');
  });

  it("of routers and keys", async () => {
    const folder = newFolder();
    const yaml = `
models:
  a: {provider: xai}
  b: {deployments: [{provider: bedrock}, {provider: mistral, key: k}]}
routers:
  one: {policy: nobody}
  two: {encoder: nothing}
`;
    const options = optionsOf(yaml, { folder, env: { AWS_REGION: "r" } });
    const { errors } = await gatewayFaults(options);
    expect(errors.map(messageOf).join("\n")).toMatch(/"nobody" is not a policy[\s\S]*nothing/);
    expect(errors).toHaveLength(2);
    const missing = missingKeys(options.config, options.env).map(messageOf);
    expect(missing).toEqual([
      expect.stringContaining("XAI_API_KEY"),
      expect.stringContaining("AWS_ACCESS_KEY_ID"),
    ]);
    expect(missingKeys(options.config, {}).map(messageOf)[1]).toContain("providers.bedrock.region");
  });

  it("and finds none in a valid configuration", async () => {
    const { errors, placement } = await gatewayFaults(optionsOf("", { folder: newFolder() }));
    expect(errors).toEqual([]);
    expect(placement!.models).toHaveLength(5);
  });
});

it("a probe asks each deployment and reports which failed", async () => {
  const host = await startHost();
  const yaml = `
providers:
  well: {url: "${host.url("well")}"}
  closed: {url: "${host.url("error401")}", key: wrong-key}
  broken: {url: "${host.url("halfJson")}"}
models:
  a: {deployments: [{provider: well}, {provider: closed}]}
  b: {provider: broken}
`;
  const results = await probeGateway(optionsOf(yaml, { folder: newFolder() }));
  expect(results).toEqual([
    { model: "a", deployment: "well", ms: expect.any(Number) },
    {
      model: "a",
      deployment: "closed",
      ms: expect.any(Number),
      error: "closed answered 401; hint: check the key of this provider",
      code: "status",
      status: 401,
    },
    {
      model: "b",
      deployment: "broken",
      ms: expect.any(Number),
      error: expect.stringContaining("sent an incomplete answer"),
      code: "broken",
    },
  ]);
  expect(host.received).toHaveLength(3);
});
