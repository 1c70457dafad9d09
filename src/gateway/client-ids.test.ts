import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../store/store-error.ts";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { newFolder, SANDBOX, sharedGateway, startGateway } from "./gateway.fixture.ts";
import type { DialectName } from "./wire/dialect-names.ts";

/** Votes by ids that clients choose, and on the last answer of a session. */

const KEYS = `keys:
  ann: {key: ann-ann-ann-ann-ann}
  bob: {key: bob-bob-bob-bob-bob}
  tok: {key: tok-tok-tok-tok-tok, scopes: [route]}`;
const as = (name: string) => ({ authorization: `Bearer ${Array(5).fill(name).join("-")}` });
const DOORS: readonly [DialectName, string, (text: string) => object][] = [
  ["chat", "/v1/chat/completions", (content) => ({ messages: [{ role: "user", content }] })],
  ["responses", "/v1/responses", (input) => ({ input })],
  [
    "messages",
    "/v1/messages",
    (content) => ({ messages: [{ role: "user", content }], max_tokens: 50 }),
  ],
];
const shared = sharedGateway(() => `${SANDBOX}\n${KEYS}`);

describe.each(DOORS)("%s", (dialect, path, request) => {
  const ask = (text: string, more: object = {}) => ({ model: "auto", ...request(text), ...more });

  it.each<[string, object, Record<string, string>]>([
    ["the body", { joust: { id: `${dialect}-body` } }, {}],
    ["a header", {}, { "x-joust-id": `${dialect}-header` }],
    ["metadata", { metadata: { joust_id: `${dialect}-metadata` } }, {}],
  ])("takes an id from %s, by which its key votes", async (place, more, headers) => {
    const { post, get } = shared();
    const id = `${dialect}-${place.replace(/^(the|a) /, "")}`;
    const { json, status } = await post(path, ask("Hi", more), { ...as("ann"), ...headers });
    expect([status, json.joust.id]).toEqual([200, id]);
    const shown = await get(`/v1/decisions/${id}`, as("ann"));
    expect(shown.json.id).toBe(json.joust.decision_id);
    expect((await get(`/v1/decisions/${id}`, as("bob"))).status).toBe(404);
    const foreign = await post("/v1/feedback", { id, rating: 1 }, as("bob"));
    expect(foreign.json.error.code).toBe("decision_not_found");
    const vote = await post("/v1/feedback", { id, rating: 1 }, as("ann"));
    expect(vote.json).toMatchObject({ id: json.joust.decision_id, status: "logged" });
    // The token with the client's id is as good as the key.
    const { vote_token } = json.joust;
    const again = await post("/v1/feedback", { id, rating: 1, vote_token });
    expect(again.json.id).toBe(json.joust.decision_id);
    const wrong = await post("/v1/feedback", { id: "other", rating: 1, vote_token });
    expect(wrong.json.error.code).toBe("invalid_vote_token");
  });

  it("refuses an id that the key has used, in the shape of the dialect", async () => {
    const { post } = shared();
    const body = ask("Hi", { joust: { id: `${dialect}-once` } });
    for (const stream of [false, true]) {
      const own = { ...body, stream, joust: { id: `${dialect}-once-${stream}` } };
      expect((await post(path, own, as("ann"))).status).toBe(200);
      const second = await post(path, own, as("ann"));
      expect([second.status, second.json.error.code]).toEqual([409, "id_in_use"]);
      expect(second.json.error.hint).toMatch(/choose a new id/);
      if (dialect === "messages") expect(second.json.type).toBe("error");
      // Another key may use the same id.
      expect((await post(path, own, as("bob"))).status).toBe(200);
    }
  });

  it("votes on the last answer of a session", async () => {
    const { post } = shared();
    const session_id = `s-${dialect}`;
    const first = await post(path, ask("One?", { joust: { session_id } }), as("ann"));
    const last = await post(path, ask("Two?", { joust: { session_id } }), as("ann"));
    await post(path, ask("Three?", { joust: { session_id } }), as("bob"));
    const vote = { session_id, last: true, rating: -1 };
    const receipt = await post("/v1/feedback", vote, as("ann"));
    expect(receipt.json).toMatchObject({ id: last.json.joust.decision_id, status: "logged" });
    expect(receipt.json.id).not.toBe(first.json.joust.decision_id);
    const none = await post("/v1/feedback", { ...vote, session_id: "no" }, as("ann"));
    expect(none.json.error.code).toBe("decision_not_found");
    const anonymous = await post("/v1/feedback", vote);
    expect(anonymous.status).toBe(401);
  });

  it("passes metadata on without the id", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ status: 400, body: { error: { message: "no", type: "x" } } });
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {models: [${dialect}-model]}}\n`,
    );
    const metadata = { user_id: "u1", joust_id: "m1" };
    for (const model of ["auto", `${dialect}-model`]) {
      await gateway.post(path, ask("Hi", { model, metadata }));
      await gateway.post(path, ask("Hi", { model, metadata: { joust_id: "m2" } }));
    }
    expect(host.received.map(({ body }) => body.metadata)).toEqual([
      { user_id: "u1" },
      undefined,
      { user_id: "u1" },
      undefined,
    ]);
  });
});

const chat = (content: string, more: object = {}) => ({
  model: "auto",
  messages: [{ role: "user", content }],
  ...more,
});

describe("an id of a client", () => {
  it("is known after a restart, and kept although decisions are sampled", async () => {
    const folder = newFolder();
    const yaml = `${SANDBOX}\nstore: {sample: 0.000001}`;
    const gateway = await startGateway(yaml, { folder });
    // An id may look like one of Joust.
    const ids = ["m 1/ä", "01932f6e-4c1a-7def-8abc-0123456789ab", "msg_7"];
    for (const id of ids) {
      expect(
        (await gateway.post("/v1/chat/completions", chat("Hi", { joust: { id } }))).status,
      ).toBe(200);
    }
    await gateway.close();
    const again = await startGateway(yaml, { folder });
    for (const id of ids) {
      const used = await again.post("/v1/chat/completions", chat("Hi", { joust: { id } }));
      expect([used.status, used.json.error.code]).toEqual([409, "id_in_use"]);
      const vote = await again.post("/v1/feedback", { id, rating: 1 });
      expect(vote.json.status).toBe("logged");
    }
    // The other decisions of a session may not be stored, so none is taken for the last.
    const last = await again.post("/v1/feedback", { session_id: "s", last: true, rating: 1 });
    expect([last.status, last.json.error.code]).toEqual([400, "not_all_stored"]);
  });

  it("is free again if its request was not answered", async () => {
    const host = await startDialectUpstream();
    host.answer = () => ({ status: 500, body: {} });
    const gateway = await startGateway(`${host.yaml}routers: {auto: {models: [chat-model]}}\n`);
    const body = chat("Hi", { joust: { id: "retried" } });
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(500);
    host.answer = () => ({
      body: {
        choices: [{ index: 0, message: { role: "assistant", content: "fine" } }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      },
    });
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(200);
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(409);
  });

  it("may be given to a decision without an answer", async () => {
    const { post } = shared();
    const body = chat("Hi", { joust: { id: "routed" } });
    const { json } = await post("/v1/route", body, as("ann"));
    expect(json.client_id).toBe("routed");
    const ranking = json.scores.slice(0, 2).map(({ model }: { model: string }) => model);
    const vote = await post("/v1/feedback", { id: "routed", ranking }, as("ann"));
    expect(vote.json.id).toBe(json.id);
    expect((await post("/v1/route", body, as("ann"))).status).toBe(409);
  });

  it("is left out if the database does not answer, and the request is answered", async () => {
    const gateway = await startGateway(SANDBOX);
    gateway.store.claimIds = () => Promise.reject(new StoreUnavailable("the disk is full"));
    const body = chat("Hi", { joust: { id: "m1" } });
    const { status, json } = await gateway.post("/v1/chat/completions", body);
    expect([status, json.joust.id]).toEqual([200, undefined]);
    const vote = await gateway.post("/v1/feedback", { id: json.joust.decision_id, rating: 1 });
    expect(vote.json.status).toBe("logged");
  });

  it.each([
    [{ joust: { id: "" } }, {}, "joust.id"],
    [{ joust: { id: "a\nb" } }, {}, "joust.id"],
    [{ joust: { id: "x".repeat(129) } }, {}, "joust.id"],
    [{ metadata: { joust_id: 7 } }, {}, "metadata.joust_id"],
    [{}, { "x-joust-id": "x".repeat(129) }, "x-joust-id"],
  ])("is refused if it cannot be stored: %j %j", async (more, headers, param) => {
    const { post } = shared();
    const { status, json } = await post("/v1/chat/completions", chat("Hi", more), {
      ...as("ann"),
      ...headers,
    });
    expect([status, json.error.param]).toEqual([400, param]);
  });
});

it("takes the newest answer of a session that is complete", async () => {
  const host = await startDialectUpstream();
  const gateway = await startGateway(`${host.yaml}routers: {auto: {models: [chat-model]}}\n`);
  const fine = {
    body: {
      choices: [{ index: 0, message: { role: "assistant", content: "fine" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    },
  };
  const ask = () =>
    gateway.post("/v1/chat/completions", chat("Hi", { joust: { session_id: "s" } }));
  host.answer = () => fine;
  const answered = await ask();
  host.answer = () => ({ status: 500, body: {} });
  expect((await ask()).status).toBe(500);
  const vote = await gateway.post("/v1/feedback", { session_id: "s", last: true, rating: 1 });
  expect(vote.json.id).toBe(answered.json.joust.decision_id);
});

describe("a misspelt header of Joust", () => {
  it.each([
    ["x-joust-sesion-id", "x-joust-session-id", "/v1/chat/completions", chat("Hi")],
    ["X-Joust-Duels", "x-joust-duel", "/v1/messages", { ...chat("Hi"), max_tokens: 5 }],
    ["x-joust-vote_token", "x-joust-vote-token", "/v1/feedback", { id: "d", rating: 1 }],
  ])("is refused with the nearest one: %s", async (name, meant, path, body) => {
    const { post } = shared();
    const { status, json } = await post(path, body, { ...as("ann"), [name]: "1" });
    expect([status, json.error.code]).toEqual([400, "unknown_header"]);
    expect(json.error.hint).toMatch(`did you mean "${meant}"?`);
    expect(json.error.message).toContain(name.toLowerCase());
  });
});
