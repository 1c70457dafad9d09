import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, SANDBOX, startGateway, type TestGateway } from "./gateway.fixture.ts";

const KEY = "c".repeat(64);
const STORING = `${SANDBOX}\nstore: {prompts: true, key: "${KEY}"}\n`;
const ask = (input: unknown, more: object = {}) => ({ model: "auto", input, ...more });

describe("a gateway that may store prompts", () => {
  it.each([
    ["a router", "auto"],
    ["a model", "abacus-14b"],
  ])("keeps responses of %s: they can be read, continued and deleted", async (_, model) => {
    const gateway = await startGateway(STORING);
    const first = await gateway.post("/v1/responses", ask("My name is Ann.", { model }));
    expect(first.json).toMatchObject({ store: true, previous_response_id: null });
    const { id } = first.json;
    expect((await gateway.get(`/v1/responses/${id}`)).json).toEqual(first.json);

    const next = await gateway.post(
      "/v1/responses",
      ask("What is my name?", { model, previous_response_id: id, stream: true }),
    );
    const last = eventsOf(next.text).at(-1).response;
    expect(last).toMatchObject({ store: true, previous_response_id: id, status: "completed" });
    expect((await gateway.get(`/v1/responses/${last.id}`)).json).toEqual(last);

    const items = await gateway.get(`/v1/responses/${last.id}/input_items?order=asc`);
    expect(items.json.data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "My name is Ann." }] },
      { type: "message", role: "assistant" },
      { type: "message", role: "user" },
    ]);
    const [newest] = (await gateway.get(`/v1/responses/${last.id}/input_items?limit=1`)).json.data;
    expect(newest.content[0].text).toBe("What is my name?");

    const cancelled = await gateway.post(`/v1/responses/${id}/cancel`, {});
    expect([cancelled.status, cancelled.json.error.code]).toEqual([400, "not_in_background"]);
    const deleted = await fetch(`${gateway.url}/v1/responses/${id}`, { method: "DELETE" });
    expect(await deleted.json()).toEqual({ id, object: "response", deleted: true });
    expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(404);
  });

  it("streams a stored response to OpenAI's client, also from the middle", async () => {
    const host = await startDialectUpstream();
    const call = {
      type: "tool_use",
      id: "toolu_1",
      name: "weather",
      input: { city: "Lima" },
    };
    host.answer = () => ({
      body: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "up",
        content: [
          { type: "thinking", thinking: "Lima, then.", signature: "c2ln" },
          { type: "text", text: "I look it up." },
          call,
        ],
        stop_reason: "tool_use",
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 4 },
      },
    });
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {}}\nstore: {prompts: true, key: "${KEY}"}\n`,
    );
    const { json } = await gateway.post("/v1/responses", ask("Hi", { model: "messages-model" }));
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
    const events = client.responses.stream({ response_id: json.id });
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    // The client builds the response from the events.
    const built = await events.finalResponse();
    expect(built.output).toMatchObject(json.output);
    expect(built).toMatchObject({ id: json.id, status: "completed", usage: json.usage });
    expect(types.filter((type) => type.endsWith(".delta"))).toEqual([
      "response.reasoning_summary_text.delta",
      "response.output_text.delta",
      "response.function_call_arguments.delta",
    ]);
    const path = `/v1/responses/${json.id}?stream=true`;
    const all = eventsOf((await gateway.get(path)).text);
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual([...all.keys()]);
    expect(eventsOf((await gateway.get(`${path}&starting_after=4`)).text)).toEqual(all.slice(5));
    expect((await gateway.get(`${path}&starting_after=x`)).status).toBe(400);
  });

  it("reads the steps of a conversation together", async () => {
    const { post, store } = await startGateway(STORING);
    let previous: string | undefined;
    for (let i = 0; i < 6; i++) {
      const more = previous === undefined ? {} : { previous_response_id: previous };
      previous = (await post("/v1/responses", ask(`Question ${i}`, more))).json.id as string;
      // The response is written in the background.
      while (!(await store.response(previous))) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const read = store.response.bind(store);
    const single: string[] = [];
    store.response = (id) => {
      single.push(id);
      return read(id);
    };
    const last = await post("/v1/responses", ask("More", { previous_response_id: previous }));
    expect(last.status).toBe(200);
    expect(single.filter((id) => id !== previous)).toEqual([]);
  });

  it("keeps nothing of a request with store: false, and seals the rest", async () => {
    const gateway = await startGateway(STORING);
    const secret = "The password is xyzzy.";
    const open = await gateway.post("/v1/responses", ask(secret, { store: false }));
    expect(open.json.store).toBe(false);
    expect((await gateway.get(`/v1/responses/${open.json.id}`)).status).toBe(404);
    const { json } = await gateway.post("/v1/responses", ask(secret));
    // The response is written in the background.
    let stored = await gateway.store.response(json.id);
    while (!stored) {
      await new Promise((resolve) => setImmediate(resolve));
      stored = await gateway.store.response(json.id);
    }
    expect(Buffer.from(stored.body).toString()).not.toContain("xyzzy");
  });

  it("shows a response only to the key that created it", async () => {
    const keys = `keys: {a: {key: "${"a".repeat(16)}"}, b: {key: "${"b".repeat(16)}"}}\n`;
    const gateway = await startGateway(`${STORING}${keys}`);
    const as = (name: string) => ({ authorization: `Bearer ${name.repeat(16)}` });
    const { json } = await gateway.post("/v1/responses", ask("Hi"), as("a"));
    expect((await gateway.get(`/v1/responses/${json.id}`, as("a"))).status).toBe(200);
    expect((await gateway.get(`/v1/responses/${json.id}`, as("b"))).status).toBe(404);
    const foreign = ask("More", { previous_response_id: json.id });
    const refused = await gateway.post("/v1/responses", foreign, as("b"));
    expect([refused.status, refused.json.error.code]).toEqual([400, "previous_response_not_found"]);
  });
});

it("a gateway that stores no prompts says so, and refuses references", async () => {
  const gateway = await startGateway(SANDBOX);
  const { json } = await gateway.post("/v1/responses", ask("Hi", { store: true }));
  expect(json.store).toBe(false);
  const shown = await gateway.get(`/v1/responses/${json.id}`);
  expect([shown.status, shown.json.error.hint]).toEqual([
    404,
    "responses are not stored here; set store.prompts in joust.yaml",
  ]);
  const more = await gateway.post("/v1/responses", ask("More", { previous_response_id: json.id }));
  expect(more.json.error).toMatchObject({
    code: "previous_response_not_found",
    param: "previous_response_id",
    hint: expect.stringContaining("send the whole conversation"),
  });
});

it("a response in the background stays at its upstream, under the gateway's id", async () => {
  const host = await startDialectUpstream();
  const response = (status: string) => ({
    id: "resp_up",
    object: "response",
    status,
    model: "up-responses",
    output: [],
    error: null,
  });
  host.answer = ({ path }) => {
    if (path.includes("input_items")) {
      return { body: { object: "list", data: [], has_more: false } };
    }
    return { body: response(path.endsWith("/cancel") ? "cancelled" : "queued") };
  };
  const gateway = await startGateway(`${host.yaml}routers: {auto: {}}\n`);
  for (const model of ["auto", "responses-model"]) {
    const { json } = await gateway.post("/v1/responses", ask("Hi", { model, background: true }));
    expect(json.status).toBe("queued");
    expect(host.received.at(-1)!.body).not.toHaveProperty("store");
    const shown = await gateway.get(`/v1/responses/${json.id}`);
    expect(shown.json).toMatchObject({ id: json.id, status: "queued" });
    expect(host.received.at(-1)!.path).toBe("/responses/v1/responses/resp_up");
    const streamed = await gateway.get(`/v1/responses/${json.id}?stream=true`);
    expect([streamed.status, streamed.json.error.code]).toEqual([400, "stream_not_supported"]);
    const listed = await gateway.get(`/v1/responses/${json.id}/input_items?limit=2`);
    expect(listed.json.data).toEqual([]);
    expect(host.received.at(-1)!.path).toContain("/resp_up/input_items?limit=2");
    const cancelled = await gateway.post(`/v1/responses/${json.id}/cancel`, {});
    expect(cancelled.json).toMatchObject({ id: json.id, status: "cancelled" });
    const deleted = await fetch(`${gateway.url}/v1/responses/${json.id}`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect((await gateway.get(`/v1/responses/${json.id}`)).status).toBe(404);
  }
});

it("a key with a budget cannot spend more by responses in the background", async () => {
  const host = await startDialectUpstream();
  const queued = { object: "response", status: "queued", model: "up", output: [], error: null };
  host.answer = () => ({ body: { id: "resp_up", ...queued } });
  const keys = `keys:
  ann: {key: ann-0123456789abc, budget: 5}
  bob: {key: bob-0123456789abc}
`;
  const gateway = await startGateway(`${host.yaml}routers: {auto: {}}
${keys}`);
  for (const model of ["auto", "responses-model"]) {
    const request = ask("Hi", { model, background: true });
    const post = (name: string) =>
      gateway.post("/v1/responses", request, { authorization: `Bearer ${name}-0123456789abc` });
    const { status, json } = await post("ann");
    expect([status, json.error?.code]).toEqual([403, "background_not_allowed"]);
    expect((await post("bob")).status).toBe(200);
  }
  expect(host.received.length).toBe(2);
});

describe("steps of a conversation", () => {
  const STORE = `store: {prompts: true, key: "${KEY}"}\n`;
  const KEYS = "keys: {ann: {key: ann-0123456789abc}, bob: {key: bob-0123456789abc}}\n";
  const as = (name: string) => ({ authorization: `Bearer ${name}-0123456789abc` });
  const whole = (text: string, id = "resp_up") => ({
    id,
    object: "response",
    status: "completed",
    model: "up-responses",
    output: [
      {
        id: `msg_${text}`,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  });

  /** An upstream of Responses that numbers its answers, all with the same id. */
  async function startNumbering(more: string, router = "routers: {auto: {}}\n") {
    const host = await startDialectUpstream();
    let count = 0;
    host.answer = ({ body }, dialect) => {
      const text = `answer${++count}`;
      if (dialect === "responses") return { body: whole(text) };
      const content = [{ type: "text", text: `${text} ${JSON.stringify(body).length}` }];
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: "msg_1", type: "message", role: "assistant", model: "up", usage };
      return { body: { ...message, content, stop_reason: "end_turn", stop_sequence: null } };
    };
    return { host, gateway: await startGateway(`${host.yaml}${router}${more}`) };
  }

  const named = (input: unknown, more: object = {}) =>
    ask(input, { model: "responses-model", ...more });

  /** Sizes of what is stored, in the order in which it was stored. */
  function sizesIn({ store }: TestGateway): number[] {
    const sizes: number[] = [];
    const save = store.saveResponses.bind(store);
    store.saveResponses = (rows) => {
      sizes.push(rows.reduce((sum, { body }) => sum + body.length, 0));
      return save(rows);
    };
    return sizes;
  }

  it("of named models have ids of the gateway, which no other key can take over", async () => {
    const { gateway } = await startNumbering(STORE + KEYS);
    const ann = await gateway.post("/v1/responses", named("Ann's"), as("ann"));
    const bob = await gateway.post("/v1/responses", named("Bob's"), as("bob"));
    expect(ann.json.id).not.toBe(bob.json.id);
    expect(ann.json.id).not.toBe("resp_up");
    for (const [own, other, { json }] of [
      ["ann", "bob", ann],
      ["bob", "ann", bob],
    ] as const) {
      expect((await gateway.get(`/v1/responses/${json.id}`, as(own))).json).toEqual(json);
      expect((await gateway.get(`/v1/responses/${json.id}`, as(other))).status).toBe(404);
    }
    const { text } = await gateway.post("/v1/responses", named("x"), as("ann"));
    expect(text).not.toContain("resp_up");
  });

  it("are stored once, and the model gets all of them", async () => {
    const { gateway, host } = await startNumbering(STORE);
    const sizes = sizesIn(gateway);
    let id: string | undefined;
    for (let i = 0; i < 12; i++) {
      const input = `question ${i} ${"x".repeat(2000)}`;
      const { status, json } = await gateway.post(
        "/v1/responses",
        named(input, { previous_response_id: id }),
      );
      expect(status).toBe(200);
      id = json.id;
    }
    expect(sizes).toHaveLength(12);
    expect(Math.max(...sizes)).toBeLessThan(4000);
    const { input } = host.received.at(-1)!.body;
    expect(input).toHaveLength(23);
    expect(JSON.stringify(input)).toMatch(
      /question 0 .*answer1".*question 1 .*answer11".*question 11 /,
    );
    const items = await gateway.get(`/v1/responses/${id}/input_items?limit=100&order=asc`);
    expect(items.json.data).toHaveLength(23);
  });

  it("together have the limit of a request", async () => {
    const { gateway } = await startNumbering(`${STORE}server: {body_mb: 0.01}\n`);
    let id: string | undefined;
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const more = { previous_response_id: id };
      const { status, json } = await gateway.post("/v1/responses", named("x".repeat(2000), more));
      statuses.push(status);
      if (status === 200) id = json.id;
      else {
        expect(json.error).toMatchObject({
          code: "conversation_too_large",
          param: "previous_response_id",
          hint: expect.stringContaining("send a shorter conversation"),
        });
      }
    }
    expect(statuses).toEqual([200, 200, 200, 200, 413, 413, 413, 413]);
  });

  it("cannot be continued after an earlier one was deleted, and say so", async () => {
    const { gateway } = await startNumbering(STORE);
    const first = await gateway.post("/v1/responses", named("one"));
    const more = { previous_response_id: first.json.id };
    const second = await gateway.post("/v1/responses", named("two", more));
    await fetch(`${gateway.url}/v1/responses/${first.json.id}`, { method: "DELETE" });
    expect((await gateway.get(`/v1/responses/${second.json.id}`)).json).toEqual(second.json);
    const third = await gateway.post(
      "/v1/responses",
      named("three", { previous_response_id: second.json.id }),
    );
    expect(third.status).toBe(400);
    expect(third.json.error).toMatchObject({
      code: "previous_response_not_found",
      message: expect.stringContaining(`${first.json.id}\` was deleted or has expired`),
      hint: expect.stringContaining("send the whole conversation"),
    });
    const items = await gateway.get(`/v1/responses/${second.json.id}/input_items`);
    expect([items.status, items.json.error.code]).toEqual([400, "previous_response_not_found"]);
  });

  it.each(["responses-model", "messages-model", "auto"])(
    "are found by references to their items, for %s",
    async (model) => {
      const { gateway, host } = await startNumbering(STORE + KEYS);
      const first = await gateway.post("/v1/responses", ask("one", { model }), as("ann"));
      // The upstream gives all its answers the same id.
      await gateway.post("/v1/responses", ask("other", { model }), as("ann"));
      const [{ id, content }] = first.json.output;
      const reference = { type: "item_reference", id };
      const input = [{ role: "user", content: "one" }, reference, { role: "user", content: "two" }];
      const next = await gateway.post("/v1/responses", { model, input }, as("ann"));
      expect(next.status).toBe(200);
      const sent = JSON.stringify(host.received.at(-1)!.body);
      expect(sent).toContain(content[0].text);
      expect(sent).not.toContain("item_reference");
      const items = await gateway.get(`/v1/responses/${next.json.id}/input_items`, as("ann"));
      expect(JSON.stringify(items.json.data)).toContain(content[0].text);
      const other = await gateway.post("/v1/responses", { model, input }, as("bob"));
      expect([other.status, other.json.error]).toMatchObject([
        400,
        {
          code: "item_not_found",
          param: "input",
          hint: expect.stringContaining("the item itself"),
        },
      ]);
    },
  );

  it("are not found by references if nothing is stored", async () => {
    const { gateway, host } = await startNumbering("");
    const input = [{ type: "item_reference", id: "msg_answer1" }];
    const { status, json } = await gateway.post("/v1/responses", named(input));
    expect([status, json.error.code]).toEqual([400, "item_not_found"]);
    expect(json.error.hint).toContain("set store.prompts");
    expect(host.received).toHaveLength(0);
  });
});

it("an id of an upstream that would change the path is not sent to the upstream", async () => {
  const host = await startDialectUpstream();
  host.answer = () => ({ body: { id: "..", object: "response", status: "queued", output: [] } });
  const gateway = await startGateway(host.yaml);
  const body = ask("Hi", { model: "responses-model", background: true });
  const { json } = await gateway.post("/v1/responses", body);
  const { status, json: shown } = await gateway.get(`/v1/responses/${json.id}`);
  expect([status, shown.error.code]).toEqual([502, "upstream_broke_off"]);
  expect(host.received).toHaveLength(1);
});
