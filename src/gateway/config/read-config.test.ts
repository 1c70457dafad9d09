import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { located, parseConfig } from "./read-config.ts";

const KNOWN = ["openai", "anthropic"];
const parse = (text: string, env = {}) => parseConfig(text, "joust.yaml", env, KNOWN);

it("gives an empty file the defaults", () => {
  const { server, routers, models } = parse("");
  expect(server).toMatchObject({ host: "127.0.0.1", port: 8080 });
  expect(models).toEqual({});
  expect(routers.auto).toMatchObject({ mode: "apply", policy: { name: "joust", options: {} } });
});

it("reads a pool and takes secrets from the environment", () => {
  const config = parse(
    [
      "providers:",
      "  house: {url: 'http://127.0.0.1:8000/v1', key: '\u0024{HOUSE_KEY}'}",
      "models:",
      "  gpt-4o-mini: {provider: openai, price: {input: 0.15, output: 0.6}}",
      "  llama: {provider: house, model: llama-3.3-70b}",
      "routers:",
      "  auto: {cost_quality_tradeoff: 5, duels: {mode: auto}}",
      "  code: {models: [llama, gpt-4o-mini], policy: {name: joust, options: {horizon: 600}}}",
    ].join("\n"),
    { HOUSE_KEY: "secret" },
  );
  expect(config.providers.house?.key).toBe("secret");
  expect(config.models.llama?.model).toBe("llama-3.3-70b");
  expect(config.routers.auto?.duels).toMatchObject({ mode: "auto", share: 0.2, spend: 0.3 });
  expect(config.routers.code?.policy).toEqual({ name: "joust", options: { horizon: 600 } });
});

it.each([
  ["providers: {sandbox: {key: abc}}", /"providers\.sandbox\.url": is missing/],
  ["providers: {other: {kind: sandbox}}", /"providers\.other\.kind": "sandbox" is not known/],
  [
    "models: {a: {deployments: [{provider: openai}, {provider: sandbox}]}}",
    /"models\.a\.deployments\.1\.provider": is the sandbox, .* `provider: sandbox`/,
  ],
])("refuses the sandbox where a host is needed: %s", (text, message) => {
  const known = [...KNOWN, "sandbox"];
  expect(() => parseConfig(text, "joust.yaml", {}, known)).toThrow(errorText(message));
});

const MODELS = "models:\n  a: {provider: openai}\n  b: {provider: openai}\n";

it.each([
  [
    "models:\n  a: {provider: opnai}",
    /^joust\.yaml:2: field "models\.a\.provider": "opnai" is not known; hint: did you mean "openai"\?/,
  ],
  [
    `${MODELS}routers:\n  x: {models: [a, gpt]}`,
    /^joust\.yaml:5: field "routers\.x\.models\.1": "gpt" is not known; hint: known names: a, b$/,
  ],
  [`${MODELS}routers:\n  x:\n    models: [a, a]`, /^joust\.yaml:6: .*is listed twice/],
  [`${MODELS}routers:\n  a: {}`, /^joust\.yaml:5: field "routers\.a": is also the name of a model/],
  [
    `${MODELS}routers:\n  x:\n    polcy: joust`,
    /^joust\.yaml:6: field "routers\.x\.polcy": is not known; hint: did you mean "policy"\? known fields: models, encoder/,
  ],
  [
    "store: {url: 'db:5432'}",
    /^joust\.yaml:1: field "store\.url": is not an address like postgres:/,
  ],
  [
    "router: {}",
    /^joust\.yaml:1: field "router": .* did you mean "routers"\? known fields: server, store/,
  ],
  [
    `${MODELS}routers:\n  x:\n    policy: {name: joust, option: {}}`,
    /^joust\.yaml:6: .*did you mean "options"\? known fields: name, options$/,
  ],
  [
    `${MODELS}routers:\n  x:\n    mode: observe`,
    /^joust\.yaml:6: .*which needs a model that answers; hint: name the model as `fallback`/,
  ],
  [
    `${MODELS}routers:\n  x:\n    explore: 2`,
    /^joust\.yaml:6: field "routers\.x\.explore": is 2, above 1; hint: correct it; .*configuration\.md describes the field$/,
  ],
  ["server: {port: '80'}", /^joust\.yaml:1: field "server\.port": is "80", not of type number;/],
  [
    "providers: {a: {url: '127.0.0.1:42137/v1'}}",
    /field "providers\.a\.url": is "127\.0\.0\.1:42137\/v1", not a valid URL; hint: write http:\/\/127\.0\.0\.1:42137\/v1$/,
  ],
  [
    "providers: {a: {url: 'localhost:8000/v1'}}",
    /not a valid URL; hint: write http:\/\/localhost:8000\/v1$/,
  ],
  [
    "providers: {a: {url: api.host.com/v1}}",
    /not a valid URL; hint: write https:\/\/api\.host\.com\/v1$/,
  ],
  ["server: {cors: [x]}", /^joust\.yaml:1: field "server\.cors\.0": is "x", not a valid URL;/],
  [
    "server: {trusted_proxies: [10.0.0.0/8, '::1', 10.0.0.0/99]}",
    /^joust\.yaml:1: field "server\.trusted_proxies\.2": is 10\.0\.0\.0\/99, not an address like/,
  ],
  ["server: {trusted_proxies: ['::/0']}", /^joust\.yaml:1: field "server\.trusted_proxies\.0": is/],
  ["store: {key: 123}", /^joust\.yaml:1: field "store\.key": is of type number, not string;/],
  [
    `${MODELS}routers:\n  x:\n    policy:\n      name: joust\n      options: {horizon: [1]}`,
    /^joust\.yaml:8: field "routers\.x\.policy\.options\.horizon"/,
  ],
  [
    "server:\n  port: '\u0024{PORT}'",
    /^joust\.yaml:2: .*environment variable PORT, which is not set/,
  ],
  ["a:\n  - b\n c: d", /^joust\.yaml:3: is not valid YAML/],
  ["models: [a]", /^joust\.yaml:1: field "models"/],
  ["3", /^joust\.yaml:1: /],
])("refuses %j with its line", (text, message) => {
  expect(() => parse(text)).toThrow(errorText(message));
});

it.each([
  ["hunter2secret", "is of type string, not object"],
  ["keys: {shop: hunter2secret}", '"keys.shop": is of type string, not object'],
  ["keys: [hunter2secret]", '"keys": is of type list, not object'],
  ["keys: {shop: {key: hunter2}}", '"keys.shop.key": is shorter than 16 characters'],
  ["providers: {openai: hunter2secret}", '"providers.openai": is of type string, not object'],
  ["providers: {openai: {key: [hunter2secret]}}", '"providers.openai.key": is of type list'],
  ["providers: {openai: {headers: hunter2secret}}", '"providers.openai.headers": is of type'],
  ["providers: {a: {url: 'http//u:hunter2@x/v1'}}", '"providers.a.url": is not valid'],
  ["models: {a: {deployments: [hunter2]}}", '"models.a.deployments.0": is of type string'],
  ["store: 'postgres://u:hunter2@db/x'", '"store": is of type string, not object'],
  ["store: {url: ['postgres://u:hunter2@db/x']}", '"store.url": is of type list, not string'],
  ["store: {url: 'postgres://u:hunter%2@db/x'}", '"store.url": has a % that is no escape'],
  ["store: {url: 'postgres://u:hunter2%ff@db/x'}", '"store.url": has a % that is no escape'],
  ["keys: {shop: {key: *hunter2}}", "a value that begins with * needs quotes"],
])("does not repeat what may be a secret in the wrong place: %s", (text, message) => {
  let error: unknown;
  try {
    parse(text);
  } catch (thrown) {
    error = thrown;
  }
  const { problem, hint, field } = error as InputError;
  const described = `"${field}": ${problem}`;
  expect(described).toContain(message);
  expect(described + hint).not.toContain("hunter2");
});

it("accepts origins as people copy them from a browser", () => {
  const { server } = parse("server: {cors: ['https://Chat.example.org/', 'http://localhost:80']}");
  expect(server.cors).toEqual(["https://chat.example.org", "http://localhost"]);
});

it("adds the line to errors that are found later", async () => {
  const write = temporaryFolder();
  const file = write(
    "mine.yaml",
    "models:\n  gpt-5.4:\n    provider: openai\nrouters:\n  a.b:\n    policy: x\n",
  );
  const late = (field: string) =>
    new InputError({ file: "joust.yaml", field }, "is odd", "correct it");
  const said = async (field: string) => String(await located(late(field), file));
  expect(await said("routers.a.b.policy")).toContain(
    `${file}:6: field "routers.a.b.policy": is odd`,
  );
  expect(await said("models.gpt-5.4.model")).toContain(`${file}:2: `);
  const other = new Error("other");
  expect(await located(other, file)).toBe(other);
});

it("accepts the example of the documentation", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/configuration.md"), "utf8");
  const [example] = page.match(/(?<=```yaml\n)[^`]+/g)!;
  const variables = [...example!.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [
    name!,
    "0123456789abcdef",
  ]);
  const config = parse(example!, Object.fromEntries(variables));
  expect(Object.keys(config.routers)).toContain("auto");
});

it("names a file that exists as the description of a field", () => {
  let hint = "";
  try {
    parse("server: {port: x}");
  } catch (error) {
    hint = (error as InputError).hint;
  }
  const [, file] = /^correct it; (.+) describes the field$/.exec(hint)!;
  expect(readFileSync(file!, "utf8")).toContain("`server.port`");
});
