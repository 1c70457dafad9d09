import { describe, expect, it } from "vitest";
import { PATHS, REQUESTS, startDialectUpstream } from "./dialect-upstream.fixture.ts";
import { eventsOf, startGateway } from "./gateway.fixture.ts";
import { DIALECTS, type DialectName } from "./wire/dialect-names.ts";

const RESPONSE = {
  id: "resp_up",
  object: "response",
  model: "up",
  status: "in_progress",
  output: [],
};
const MESSAGE = {
  id: "msg_2",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const USAGE = { input_tokens: 3, output_tokens: 2 };
const delta = { item_id: "msg_2", output_index: 0, content_index: 0 };

/** The events of a short stream of each dialect. */
const EVENTS: Readonly<Record<DialectName, readonly object[]>> = {
  chat: [
    { id: "c", choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }] },
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ],
  responses: [
    { type: "response.created", response: RESPONSE },
    { type: "response.output_item.added", output_index: 0, item: { ...MESSAGE, content: [] } },
    { type: "response.output_text.delta", ...delta, delta: "Hello" },
    { type: "response.output_item.done", output_index: 0, item: MESSAGE },
    {
      type: "response.completed",
      response: { ...RESPONSE, status: "completed", output: [MESSAGE], usage: USAGE },
    },
  ],
  messages: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "up",
        content: [],
        usage: USAGE,
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ],
};

/** Forms of an event that the standard of server-sent events allows. */
const FORMS: Readonly<Record<string, (data: string) => string>> = {
  "data on several lines": (data) =>
    `data: ${JSON.stringify(JSON.parse(data), null, 1).replaceAll("\n", "\ndata: ")}\n\n`,
  "lines that end in CR": (data) => `: a comment\rdata: ${data}\r\r`,
  "lines that end in CRLF": (data) => `id: 1\r\ndata: ${data}\r\n\r\n`,
  "a blank line that is a CR": (data) => `data: ${data}\n\r`,
};

const requestTo = (dialect: DialectName, model: string) => ({
  ...{ model, stream: true },
  ...REQUESTS[dialect],
});

const ended = (dialect: DialectName, text: string) =>
  dialect === "chat" ? `${text}data: [DONE]\n\n` : text;

describe.each(DIALECTS)("a stream of %s", (dialect) => {
  it.each(Object.entries(FORMS))("with %s is labelled, translated and stored", async (_, form) => {
    const host = await startDialectUpstream();
    const events = EVENTS[dialect].map((event) => form(JSON.stringify(event))).join("");
    host.answer = () => ({ body: ended(dialect, events) });
    const routers = `routers: {auto: {models: [${dialect}-model]}}`;
    const gateway = await startGateway(`${host.yaml}${routers}\nstore: {prompts: true}\n`);
    for (const client of DIALECTS) {
      for (const model of ["auto", `${dialect}-model`]) {
        const request = requestTo(client, model);
        const { status, text } = await gateway.post(PATHS[client], request);
        expect([client, model, status, text]).toEqual([client, model, 200, text]);
        const all = eventsOf(text);
        expect(JSON.stringify(all)).toContain("Hello");
        if (model === "auto") expect(JSON.stringify(all[0])).toContain('"joust":{');
        if (client !== "responses") continue;
        const { id } = all.at(-1).response;
        const stored = await gateway.get(`/v1/responses/${id}`);
        expect(JSON.stringify(stored.json.output)).toContain("Hello");
      }
    }
  });

  it("with comments or pings between its events is translated with comments", async () => {
    const host = await startDialectUpstream();
    const alive = {
      chat: ": PROCESSING\n\n",
      responses: ": PROCESSING\n\n",
      messages: 'event: ping\ndata: {"type": "ping"}\n\n',
    };
    const [begun, ...events] = EVENTS[dialect].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    host.answer = () => ({ body: ended(dialect, [begun, alive[dialect], ...events].join("")) });
    const gateway = await startGateway(host.yaml);
    for (const client of DIALECTS) {
      const request = requestTo(client, `${dialect}-model`);
      const { text } = await gateway.post(PATHS[client], request);
      expect(text).toContain("Hello");
      expect(text).toMatch(client === dialect ? alive[dialect] : /\n\n:\n\n/);
    }
  });

  it.each(["with its last event alone", "without events"])("%s is no answer", async (form) => {
    const host = await startDialectUpstream();
    const last =
      dialect === "messages"
        ? { type: "message_stop" }
        : { type: "response.completed", response: RESPONSE };
    const empty = dialect === "chat" ? "data: [DONE]\n\n" : `data: ${JSON.stringify(last)}\n\n`;
    host.answer = (_, own) => {
      if (own !== dialect) return { body: EVENTS[own] };
      return { body: form === "without events" ? ": nothing\n\n" : empty };
    };
    const other = dialect === "chat" ? "messages" : "chat";
    const gateway = await startGateway(
      `${host.yaml}routers: {auto: {models: [${dialect}-model, ${other}-model], explore: 0}}\n`,
    );
    for (let i = 0; i < 12; i++) {
      const { status, text } = await gateway.post(PATHS[dialect], requestTo(dialect, "auto"));
      expect([status, text]).toEqual([200, text]);
      expect(text).toContain("Hello");
    }
    const named = requestTo(dialect, `${dialect}-model`);
    for (let i = 0; i < 12; i++) {
      expect((await gateway.post(PATHS[dialect], named)).status).toBeGreaterThan(500);
    }
    // The failures have opened the circuit breaker.
    const { status } = await gateway.post(PATHS[dialect], named);
    expect(status).toBe(503);
  });
});
