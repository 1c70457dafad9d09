import { describe, expect, it } from "vitest";
import { MESSAGES, PATHS, REQUESTS, startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { SANDBOX, sharedGateway, startGateway } from "./gateway.fixture.ts";
import { DIALECTS } from "./wire/dialect-names.ts";

/** Errors name the member that is at fault and say what to do, in the shape of each dialect. */

const gateway = sharedGateway(() => SANDBOX);

describe.each(DIALECTS)("%s", (dialect) => {
  /** Status, code, member, message and hint of a refusal, which must have the dialect's shape. */
  const refused = async (body: object) => {
    const { status, json } = await gateway().post(PATHS[dialect], body);
    const { error } = json;
    if (dialect === "messages") {
      expect(json).toMatchObject({ type: "error", request_id: null });
      expect(error).toMatchObject({ details: { error_code: error.code } });
    } else {
      expect(Object.keys(json)).toEqual(["error"]);
      expect(error.param).toEqual(expect.any(String));
    }
    return {
      status,
      code: error.code,
      param: error.param,
      text: `${error.message} | ${error.hint}`,
    };
  };
  const param = (name: string) => (dialect === "messages" ? undefined : name);

  it("a request without model gets the names that exist", async () => {
    for (const model of [{}, { model: "" }, { model: null }]) {
      expect(await refused({ ...REQUESTS[dialect], ...model })).toEqual({
        status: 400,
        code: "missing_value",
        param: param("model"),
        text: expect.stringMatching(/^model is missing.*\| known names: auto, .*summit-pro/),
      });
    }
  });

  it("a request without messages or input says what to send", async () => {
    const member = dialect === "responses" ? "input" : "messages";
    expect(await refused({ model: "auto", max_tokens: 5 })).toEqual({
      status: 400,
      code: "missing_value",
      param: param(member),
      text: expect.stringMatching(
        new RegExp(`^${member} is missing \\| send a .*belongs? to /v1/`),
      ),
    });
  });

  it("a model of Claude without an alias gets the line to add", async () => {
    const { text, code } = await refused({ ...REQUESTS[dialect], model: "claude-sonnet-9" });
    expect(code).toBe("model_not_found");
    expect(text).toContain(
      'add to the configuration (joust.yaml or POST /v1/admin/configuration): routers: {auto: {aliases: ["claude-*"]}}',
    );
    const other = await refused({ ...REQUESTS[dialect], model: "nonsense" });
    expect(other.text).not.toContain("aliases");
  });
});

it("a hosted tool that no model has is named, with both remedies", async () => {
  const host = await startDialectUpstream();
  const routers = "routers: {auto: {models: [chat-model, messages-model]}}\n";
  const { post } = await startGateway(`${host.yaml}${routers}`);
  const body = { input: "Hi", tools: [{ type: "web_search" }] };
  const { status, json } = await post("/v1/responses", { model: "auto", ...body });
  expect([status, json.error.code, json.error.param]).toEqual([400, "no_capable_model", "tools"]);
  expect(json.error.message).toContain(
    "chat-model does not speak responses, which the tool web_search needs",
  );
  expect(json.error.hint).toBe(
    "the tool web_search runs at the provider: remove it from tools, or add a model to auto whose provider has dialects.responses",
  );
  const background = await post("/v1/responses", { model: "auto", input: "Hi", background: true });
  expect(background.json.error.hint).toMatch(/^background runs at the provider: remove it, or add/);
  const named = await post("/v1/responses", { model: "chat-model", ...body });
  expect([named.status, named.json.error.param]).toEqual([400, "tools"]);
  expect(named.json.error.message).toContain("the tool web_search, which runs at a provider");
  const two = { model: "messages-model", messages: [{ role: "user", content: "Hi" }], n: 2 };
  expect((await post("/v1/chat/completions", two)).json.error.param).toBe("n");
  expect(host.received).toEqual([]);
});

describe("a vote", () => {
  const vote = async (body: object, headers = {}) => {
    const { status, json } = await gateway().post("/v1/feedback", body, headers);
    return { status, ...json.error };
  };

  it("on the answer of a named model says that it has no decision", async () => {
    const named = await gateway().post(PATHS.chat, { model: "summit-pro", messages: MESSAGES });
    const refused = await vote({ id: named.json.id, rating: 1 });
    expect(refused).toMatchObject({ status: 404, code: "decision_not_found", param: "id" });
    expect(refused.hint).toContain("requests that name a model have none");
  });

  it("with a token and without its id says that both are needed", async () => {
    const { json } = await gateway().post(PATHS.chat, { model: "auto", messages: MESSAGES });
    const { vote_token } = json.joust;
    const refused = await vote({ rating: 1, vote_token });
    expect(refused).toMatchObject({ status: 400, code: "missing_value", param: "id" });
    expect(refused.hint).toContain("the token replaces the API key, not the id");
  });

  it("that does not fit names its member", async () => {
    const { json } = await gateway().post(PATHS.chat, { model: "auto", messages: MESSAGES });
    const { id } = json;
    const fault = async (body: object) => {
      const { status, code, param } = await vote({ id, ...body });
      return [status, code, param];
    };
    expect(await fault({ winner: 0 })).toEqual([400, "vote_single", "winner"]);
    expect(await fault({ rating: 7 })).toEqual([400, "invalid_value", "rating"]);
    expect(await fault({ ranking: ["a", "a"] })).toEqual([400, "vote_invalid", "ranking"]);
    expect(await fault({})).toEqual([400, "missing_value", "winner"]);
    await vote({ id, rating: 1 });
    expect(await fault({ rating: -1 })).toEqual([409, "vote_changed", "id"]);
  });
});

it("a duel that is switched off says so", async () => {
  const { post } = await startGateway(`${SANDBOX}\nrouters: {auto: {duels: {on_request: false}}}`);
  const body = { model: "auto", messages: MESSAGES, joust: { duel: true } };
  const { json } = await post(PATHS.chat, body);
  expect(json.joust).toMatchObject({
    duel: false,
    because: "no duel: routers.auto.duels.on_request is false in the configuration",
  });
});

it("a duel that is switched off on request and impossible for another reason names that reason", async () => {
  const duels = "duels: {on_request: false, mode: true, share: 1, spend: 1}";
  const { post } = await startGateway(`${SANDBOX}\nrouters: {auto: {${duels}}}`);
  const body = { model: "auto", messages: MESSAGES, n: 2, joust: { duel: true } };
  const { json } = await post(PATHS.chat, body);
  expect(json.joust).toMatchObject({
    duel: false,
    because: expect.stringContaining("no duel: the request has n: 2"),
  });
});

it("a page that is not built says how to build it", async () => {
  const { status, json } = await gateway().get("/");
  expect([status, json.error.code]).toEqual([404, "page_not_built"]);
  expect(json.error.hint).toContain("npm ci");
});
