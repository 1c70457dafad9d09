import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { ChatChunk } from "../../api/chat.ts";
import { EVENTS } from "../../api/event.ts";
import { serverEvents } from "../../client/server-events.ts";
import { startUpstream } from "../administration/upstream.fixture.ts";
import { startDialectUpstream } from "../dialect-upstream.fixture.ts";
import { chat, eventsOf, SANDBOX, startGateway } from "../gateway.fixture.ts";
import { Conformance, describeApi } from "./conformance.fixture.ts";

const description = await describeApi();
const conformance = new Conformance(description);

describe("/openapi.json", () => {
  it("is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(description) });
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it.each(conformance.operations)("describes all responses of $id", ({ operation }) => {
    const { responses, summary, operationId } = operation;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "400", "500"]));
    for (const response of Object.values(responses)) {
      const schemas = Object.values(response.content).map(({ schema }) => schema);
      expect(schemas).toEqual(schemas.map(() => expect.any(Object)));
      expect(schemas.length).toBeGreaterThan(0);
      expect(response.description).not.toMatch(/^Default Response/);
    }
    expect([summary, operationId]).toEqual([expect.any(String), expect.any(String)]);
  });
});

const DUEL = { joust: { duel: true } };

it("docs/http.md describes every operation, and no others", () => {
  const docs = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");
  const documented = [...docs.matchAll(/`(GET|POST|DELETE) (\/[^`?]*)/g)].map(
    ([, method, path]) => `${method!.toLowerCase()} ${path}`,
  );
  const operations = conformance.operations.map(({ id }) => id);
  expect([...new Set(documented)].toSorted()).toEqual(operations.toSorted());
});

/** Models of the sandbox, after those of the upstream. */
const MODELS = `  abacus-14b: {provider: sandbox}
  pebble-mini: {provider: sandbox}
routers:
  auto: {models: [abacus-14b, pebble-mini]}
  pair: {models: [abacus-14b, pebble-mini], duels: {mode: true, share: 1}}
${SANDBOX}
`;

describe("responses", () => {
  /** Requests for a JSON response of every endpoint; `{id}` is replaced by the id of a decision. */
  const requests: readonly (readonly [string, string, object?])[] = [
    ["POST", "/v1/chat/completions", chat("Why is the sky blue?")],
    ["POST", "/v1/responses", { model: "auto", input: "Why is the sky blue?" }],
    ["GET", "/v1/decisions/export?format=json"],
    ["GET", "/v1/responses/{response}"],
    ["GET", "/v1/responses/{response}/input_items"],
    ["DELETE", "/v1/responses/{response}"],
    ["POST", "/v1/responses/{held}/cancel"],
    ["POST", "/v1/messages", { ...chat("Why is the sky blue?"), max_tokens: 9 }],
    ["POST", "/v1/messages/count_tokens", chat("Why is the sky blue?")],
    ["POST", "/v1/completions", { model: "abacus-14b", prompt: "Why is the sky" }],
    ["POST", "/v1/embeddings", { model: "abacus-14b", input: "Why is the sky blue?" }],
    ["POST", "/v1/route", chat("Why is the sky blue?")],
    ["POST", "/v1/feedback", { id: "{id}", winner: 0 }],
    ["POST", "/feedback", { inference_id: "{id}", type: "leftvote" }],
    ["GET", "/v1/decisions?limit=2"],
    ["GET", "/v1/decisions/{id}"],
    ["GET", "/v1/decisions/{later}/second"],
    ["GET", "/v1/models"],
    ["GET", "/v1/models/auto"],
    ["GET", "/v1/stats"],
    ["GET", "/v1/tradeoff"],
    ["GET", "/v1/learning"],
    ["GET", "/v1/map"],
    ["GET", "/v1/sandbox/truth"],
    ["GET", "/v1/sandbox/voters"],
    ["POST", "/v1/sandbox/voters", { on: false }],
    ["POST", "/v1/admin/routers/auto/freeze"],
    ["POST", "/v1/admin/routers/auto/thaw"],
    ["POST", "/v1/admin/routers/auto/rollback", { to: "2026-01-01T00:00:00Z" }],
    ["GET", "/v1/admin/routers/auto/voters?limit=1"],
    ["POST", "/v1/admin/routers/auto/weigh", { voter: "ann", weight: 0.5 }],
    ["POST", "/v1/admin/routers/auto/forget", { voter: "ann" }],
    ["GET", "/v1/admin/providers"],
    ["GET", "/v1/admin/catalog?provider=openai"],
    [
      "POST",
      "/v1/admin/providers/test",
      { name: "a", value: { url: "http://127.0.0.1:9" }, models: ["m"] },
    ],
    ["GET", "/v1/session"],
    ["POST", "/v1/session", { key: "any" }],
    ["DELETE", "/v1/session"],
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/openapi.json"],
    ["POST", "/v1/admin/keys", { name: "bob", scopes: ["admin"], budget: 5, duels: "auto" }],
    ["GET", "/v1/admin/keys"],
    ["POST", "/v1/admin/keys/bob/budget", { budget: null }],
    ["POST", "/v1/admin/keys/bob/concurrent", { concurrent: 5 }],
    ["POST", "/v1/admin/keys/bob/limits", { rate: 60, models: ["abacus-14b"] }],
    ["GET", "/v1/admin/audit"],
    ["GET", "/v1/admin/system"],
    ["POST", "/v1/admin/backup"],
    ["POST", "/v1/admin/keys/bob/revoke"],
  ];

  const changes = [{ section: "routers", name: "auto", value: { explore: 0.1 } }];
  /** Requests to a gateway whose configuration is managed in the store. */
  const managedRequests: readonly (readonly [string, string, object?])[] = [
    ["GET", "/v1/admin/configuration"],
    ["POST", "/v1/admin/configuration/preview", { changes }],
    ["POST", "/v1/admin/configuration", { based_on: 0, changes }],
    ["POST", "/v1/admin/configuration/revert", { based_on: 1, revision: 0 }],
    ["POST", "/v1/admin/setup", { based_on: 2, key: "sk-proj-1" }],
  ];

  it("of every endpoint conform to it, before and after votes", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ body: { id: "r", object: "response", model: "m", output: [] } });
    const { url, post } = await startGateway(`${host.yaml}${MODELS}store: {prompts: true}\n`);
    const plainRequest = { model: "abacus-14b", input: "Why is the sky blue?" };
    const { json: response } = await post("/v1/responses", plainRequest);
    const background = { ...plainRequest, model: "responses-model", background: true };
    const { json: held } = await post("/v1/responses", background);
    let key: string | undefined;
    const send = async (method: string, path: string, body?: object, to = url) => {
      const response = await fetch(`${to}${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
        ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }),
      });
      const json = (await response.json()) as { secret?: string };
      const fault = conformance.faultOf(method, path, response.status, json);
      expect([path, response.status, fault, json]).toEqual([path, 200, undefined, json]);
      key ??= json.secret;
    };
    const { json: duel } = await post("/v1/chat/completions", chat("Why?", DUEL));
    const id = duel.joust.decision_id as string;
    const { json: first } = await post("/v1/chat/completions", chat("Why?", { model: "pair" }));
    const later = first.joust.decision_id as string;
    // A duel is hidden before the vote.
    await send("GET", `/v1/decisions/${id}`);
    await post("/v1/feedback", { id, winner: 0, voter: "ann" });
    for (const [method, path, body] of requests) {
      const filled = body && JSON.parse(JSON.stringify(body).replace("{id}", id));
      const ids = { id, later, response: response.id, held: held.id };
      const full = Object.entries(ids).reduce(
        (p, [name, own]) => p.replace(`{${name}}`, own),
        path,
      );
      await send(method, full, filled);
    }
    key = undefined;
    const upstream = await startUpstream("sk-proj-1", ["gpt-5.4"]);
    const env = { OPENAI_BASE_URL: upstream.url };
    const managed = await startGateway(SANDBOX, { env, managed: { by: "store" } });
    for (const [method, path, body] of managedRequests) await send(method, path, body, managed.url);
    const json = conformance.operations.filter(
      ({ operation }) => "application/json" in operation.responses["200"]!.content,
    );
    expect([...conformance.checked].toSorted()).toEqual(json.map(({ id }) => id).toSorted());
  });
});

describe("streams", () => {
  it("consist of chunks and events as documented", async () => {
    const { url, post } = await startGateway(SANDBOX);
    const stop = new AbortController();
    const seen = new Set<string>();
    const events = await fetch(`${url}/v1/events`, { signal: stop.signal });
    const { text } = await post("/v1/chat/completions", chat("Why?", { ...DUEL, stream: true }));
    const chunks = eventsOf(text);
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks) expect(ChatChunk.parse(chunk)).toEqual(chunk);
    await post("/v1/feedback", { id: chunks[0].joust.decision_id, winner: "tie" });
    for await (const { name, data } of serverEvents(events)) {
      const event = JSON.parse(data);
      expect(EVENTS[name as keyof typeof EVENTS].strict().parse(event)).toEqual(event);
      seen.add(name);
      if (seen.size === Object.keys(EVENTS).length) break;
    }
    stop.abort();
  });
});
