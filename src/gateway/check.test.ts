import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageOf } from "../core/errors/joust-error.ts";
import type { InputError } from "../core/input/input-error.ts";
import { gatewayFaults, probeGateway } from "./check-gateway.ts";
import { ConfigError } from "./config/read-config.ts";
import { configOf, newFolder, optionsOf, startFaultyUpstream } from "./gateway.fixture.ts";
import { missingKeys } from "./providers/model-specs.ts";

/** The error of reading a configuration. */
function faultOf(yaml: string): ConfigError | undefined {
  try {
    configOf(yaml);
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error;
  }
}

/** The messages of all errors that reading a configuration reports. */
function errorsOf(yaml: string): string[] {
  const error = faultOf(yaml);
  return error ? [error, ...error.others].map(messageOf) : [];
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

  it("of the schema and of references together, each with its line and a remedy", () => {
    const yaml = `server: {port: x}
models:
  a: {provider: openai, retries: -1}
  b: {provider: opnai}
routers:
  r: {models: [a, c, 5], explore: 7, fallback: a}
  s: {mode: bypass, fallback: 5}
keys:
  k: {key: short, models: [d], routers: [rr]}
`;
    const errors = errorsOf(yaml);
    expect(
      errors.map((text) => /^joust\.yaml:(\d+): field "([^"]+)"/.exec(text)?.slice(1)),
    ).toEqual([
      ["1", "server.port"],
      ["3", "models.a.retries"],
      ["4", "models.b.provider"],
      ["6", "routers.r.models.2"],
      ["6", "routers.r.explore"],
      ["6", "routers.r.models.1"],
      ["7", "routers.s.fallback"],
      ["9", "keys.k.key"],
      ["9", "keys.k.models.0"],
      ["9", "keys.k.routers.0"],
    ]);
  });

  it("of the range of a metric, each once", () => {
    const yaml = `metrics:
  a: {type: boolean, min: 1}
  b: {type: number, min: 5}
  c: {type: rating, min: 5, max: 5}
`;
    expect(errorsOf(yaml)).toEqual([
      'joust.yaml:2: field "metrics.a": is boolean, which has no min and max',
      'joust.yaml:3: field "metrics.b": needs min and max',
      'joust.yaml:4: field "metrics.c": needs a min below its max',
    ]);
  });

  it("of aliases that have no effect or fit the same names", () => {
    const errors = errorsOf(`
models: {gpt: {provider: openai}}
routers:
  one: {aliases: [gpt, "claude-*", "*-mini", "a*c"]}
  two: {aliases: [one, "claude-*", "claude-opus-*", "ab*"]}
`).join("\n");
    expect(errors).toContain('"gpt" is the name of a model, which takes precedence');
    expect(errors).toContain('"one" is the name of a router, which takes precedence');
    expect(errors).toContain('"claude-*" is also an alias of the router one');
    expect(errors).toContain('"ab*" and "a*c" of the router one fit the same names');
    expect(errors.split("\n")).toHaveLength(4);
  });

  it("also of entries that match the schema", () => {
    const yaml = `server: {port: x, hots: 1}
models:
  a: {provider: xai}
  b: {provider: nobody, retries: -1}
routers:
  one: {models: [a], policy: nobody}
  two: {models: [b], encoder: nothing}
`;
    const { rest } = faultOf(yaml)!;
    expect([Object.keys(rest!.models), Object.keys(rest!.routers)]).toEqual([["a"], ["one"]]);
  });

  it("of several models at once", async () => {
    const models = "a: {provider: sandbox}, b: {provider: sandbox}";
    const yaml = `models: {${models}}\nrouters: {r: {policy: nobody}}`;
    const { errors } = await gatewayFaults(optionsOf(yaml, { folder: newFolder() }));
    const texts = errors.map(messageOf);
    expect(texts).toEqual([
      expect.stringContaining("models.a.model"),
      expect.stringContaining("models.b.model"),
      expect.stringContaining('"nobody" is not a policy'),
    ]);
  });

  it("of keys that name models which the environment does not provide", async () => {
    const yaml = "keys: {k: {key: 0123456789abcdef, models: [pebble-mini, pebble]}}";
    const { errors } = await gatewayFaults(optionsOf(yaml, { folder: newFolder() }));
    expect(errors.map(messageOf)).toEqual([
      expect.stringMatching(/keys\.k\.models.*"pebble" is not/),
    ]);
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

  it("of policy, encoder and scores of one router", async () => {
    const yaml = "routers: {r: {policy: jouts, encoder: miniLm, scores: nofile.csv}}";
    const options = optionsOf(yaml, { folder: newFolder() });
    const { errors } = await gatewayFaults({ ...options, env: {} });
    const found = errors as InputError[];
    expect(found.map(({ field, problem }) => [field, problem])).toEqual([
      ["routers.r.policy", '"jouts" is not a policy'],
      ["routers.r.encoder", expect.stringMatching(/^miniLm: is in none of/)],
      ["routers.r.scores", "nofile.csv: does not exist"],
    ]);
    expect(found[2]!.hint).toContain("relative to the folder of the configuration file");
  });

  it("of a line of scores, with its place in the table", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "s.csv"), "model,category,perf,cost\nabacus-14b,mmlu,1.9,0\n");
    const options = optionsOf("routers: {r: {scores: s.csv}}", { folder });
    const { errors } = await gatewayFaults({ ...options, env: {} });
    expect((errors as InputError[]).map(({ field, problem }) => [field, problem])).toEqual([
      ["routers.r.scores", 's.csv:2: field "perf": is 1.9'],
    ]);
  });

  it("of a store key and of routers", async () => {
    const yaml = "store: {prompts: true, key: short}\nrouters: {r: {policy: jouts}}";
    const { errors } = await gatewayFaults(optionsOf(yaml, { folder: newFolder() }));
    expect(errors.map(messageOf)).toEqual([
      expect.stringContaining("store.key"),
      expect.stringContaining('"jouts" is not a policy'),
    ]);
  });

  it("and finds none in a valid configuration", async () => {
    const { errors, placement } = await gatewayFaults(optionsOf("", { folder: newFolder() }));
    expect(errors).toEqual([]);
    expect(placement!.models).toHaveLength(5);
  });
});

it("a check warns of a table of scores that names no model of the router", async () => {
  const folder = newFolder();
  const row = "abacus-14b,MMLU,0.9,0\n";
  writeFileSync(join(folder, "s.csv"), `model,category,perf,cost\n${row}`);
  const warningsOf = async (models: string) => {
    const yaml = `routers: {r: {models: [${models}], scores: s.csv}}`;
    return (await gatewayFaults(optionsOf(yaml, { folder }))).warnings;
  };
  expect(await warningsOf("pebble-mini, summit-pro")).toEqual([
    expect.stringMatching(/^the router r: .*s\.csv have no effect/),
  ]);
  expect(await warningsOf("pebble-mini, abacus-14b")).toEqual([]);
});

it("a probe asks each deployment of the enabled models and reports which failed", async () => {
  const host = await startFaultyUpstream();
  const yaml = `
providers:
  well: {url: "${host.url("well")}"}
  closed: {url: "${host.url("error401")}", key: wrong-key}
  broken: {url: "${host.url("halfJson")}"}
models:
  a: {deployments: [{provider: well}, {provider: closed}]}
  b: {provider: broken}
  c: {provider: well, enabled: false}
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
