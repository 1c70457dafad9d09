import { describe, expect, it } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { chat, configOf, startFaultyUpstream, startGateway } from "./gateway.fixture.ts";

describe("deployments of a model", () => {
  const yaml = (first: string, second: string, more = "") => `
providers:
  east: {url: "${first}", key: key-of-east}
  west: {url: "${second}"}
models:
  m:
    price: {input: 1, output: 1}
    retries: 0
    deployments:
      - {provider: east, model: east-m, weight: 3${more}}
      - {provider: west, model: west-m, key: key-of-west}
`;

  it("are one model for the router, and keep a session", async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(yaml(host.url("well"), host.url("well")));
    const seen = new Set<string | null>();
    for (let session = 0; session < 12; session++) {
      const answers: (string | null)[] = [];
      for (let i = 0; i < 2; i++) {
        const headers = { "x-joust-session-id": `s${session}` };
        const answer = await gateway.post("/v1/chat/completions", chat("x"), headers);
        expect(answer.json.joust.model).toBe("m");
        answers.push(answer.headers.get("x-joust-deployment"));
      }
      expect(answers[0]).toBe(answers[1]);
      seen.add(answers[0]!);
    }
    expect(seen).toEqual(new Set(["east", "west"]));
    const keys = new Set(host.received.map(({ headers }) => headers.authorization));
    expect(keys).toEqual(new Set(["Bearer key-of-east", "Bearer key-of-west"]));
    const models = new Set(host.received.map(({ body }) => JSON.parse(body.toString()).model));
    expect(models).toEqual(new Set(["east-m", "west-m"]));
  });

  it("answer for each other, and metrics and /v1/models show their health", async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(yaml(host.url("error500"), host.url("well")));
    for (let i = 0; i < 40; i++) {
      const { status, json, headers } = await gateway.post("/v1/chat/completions", chat(`x ${i}`));
      expect(status).toBe(200);
      expect(json.joust.fallbacks).toBeUndefined();
      expect(headers.get("x-joust-deployment")).toBe("west");
    }
    const { json } = await gateway.get("/v1/models/m");
    expect(json.deployments).toEqual([
      { name: "east", provider: "east", weight: 3, state: "open" },
      { name: "west", provider: "west", weight: 1, state: "closed" },
    ]);
    const { text } = await gateway.get("/metrics");
    expect(text).toContain('joust_deployment_resting{model="m",deployment="east"} 1');
    expect(text).toContain('joust_deployment_resting{model="m",deployment="west"} 0');
    expect(text).toContain('joust_model_resting{model="m"} 0');
    expect(text).toMatch(
      /joust_deployment_calls_total\{model="m",deployment="west",status="ok"\} 40/,
    );
  });

  it("over their limits answer 429 with Retry-After", async () => {
    const host = await startFaultyUpstream();
    const gateway = await startGateway(`
providers: {east: {url: "${host.url("well")}"}}
models:
  m: {deployments: [{provider: east, rpm: 1}, {provider: east, rpm: 1}]}
`);
    const statuses = [];
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await gateway.post("/v1/chat/completions", chat("x"));
      statuses.push([status, headers.has("retry-after")]);
    }
    expect(statuses).toEqual([
      [200, false],
      [200, false],
      [429, true],
    ]);
    const { json } = await gateway.get("/v1/models/m");
    expect(json.deployments.map(({ name }: { name: string }) => name)).toEqual([
      "east-1",
      "east-2",
    ]);
  });

  it.each([
    ["models: {m: {}}", /models\.m\.provider.*is missing/],
    [
      "models: {m: {provider: openai, deployments: [{provider: openai}]}}",
      /given with deployments/,
    ],
    ["models: {m: {deployments: [{provider: nobody}]}}", /deployments\.0\.provider.*not known/],
    ["models: {m: {deployments: [{provider: openai, weight: 0}]}}", /deployments\.0\.weight/],
  ])("%s is refused", (text, error) => {
    expect(() => configOf(text)).toThrow(errorText(error));
  });
});

it("a router states the capabilities of its pool", async () => {
  const host = await startFaultyUpstream();
  const gateway = await startGateway(`
providers: {p: {url: "${host.url("well")}"}}
models:
  a: {provider: p, context: 1000, tools: false, vision: false, json_schema: false}
  b: {provider: p, context: 8000, tools: true, vision: false}
routers:
  auto: {}
  small: {models: [a]}
`);
  const { json } = await gateway.get("/v1/models");
  expect(json.data.slice(0, 2)).toEqual([
    {
      id: "auto",
      object: "model",
      created: 0,
      owned_by: "joust",
      capabilities: { context: 8000, tools: true, vision: false },
      models: ["a", "b"],
    },
    {
      id: "small",
      object: "model",
      created: 0,
      owned_by: "joust",
      capabilities: { context: 1000, tools: false, vision: false, json_schema: false },
      models: ["a"],
    },
  ]);
});
