import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../clock/clock.ts";
import { passPieces } from "../deliver/deliver.ts";
import { chat } from "../dialects/chat/chat.ts";
import { HttpUpstream } from "./http-upstream.ts";
import { UpstreamError } from "./upstream/error.ts";
import {
  COMPLETION,
  DONE_EVENT,
  EVENTS,
  type Fault,
  type Misbehaving,
  startMisbehaving,
} from "./upstream/misbehaving.fixture.ts";
import type { UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";

let host: Misbehaving;
const open: HttpUpstream[] = [];
beforeAll(async () => {
  host = await startMisbehaving();
});
afterAll(async () => {
  await Promise.all(open.map((upstream) => upstream.close()));
  await host.close();
});

function upstream(fault: Fault, limits: object = {}): HttpUpstream {
  const made = new HttpUpstream(
    { name: "host", url: host.url(fault), headers: { authorization: "Bearer k" }, limits },
    systemClock,
  );
  open.push(made);
  return made;
}

const request = (stream: boolean, members: object = {}): UpstreamRequest => ({
  endpoint: "chat/completions",
  body: Buffer.from(JSON.stringify({ model: "auto", messages: [], stream, ...members })),
  model: "m",
  stream,
});

const ASKS_USAGE = { stream_options: { include_usage: true } };
const never = new AbortController().signal;
const ask = (fault: Fault, stream: boolean, limits?: object) =>
  upstream(fault, limits).call(request(stream), never);
const pieces = async (body: AsyncIterable<Uint8Array>) => {
  const texts: string[] = [];
  for await (const piece of body) texts.push(Buffer.from(piece).toString());
  return texts;
};
const read = async (answer: UpstreamAnswer) => (await pieces(answer.body)).join("");
const errorOf = (promise: Promise<unknown>): Promise<UpstreamError> =>
  promise.then(
    () => expect.fail("no error"),
    (error) => {
      expect(error).toBeInstanceOf(UpstreamError);
      return error;
    },
  );

describe("an upstream that works", () => {
  it("gives a complete answer with usage, headers and times", async () => {
    const answer = await ask("well", false);
    expect(answer.headers).toMatchObject({ "x-request-id": "r-1" });
    expect(await read(answer)).toBe(COMPLETION);
    const end = await answer.end;
    expect(end.error).toBeUndefined();
    expect(end.usage).toMatchObject({ promptTokens: 9, completionTokens: 2 });
    expect(end.sentAt).toBeLessThanOrEqual(end.firstByteAt);
    expect(end.firstByteAt).toBeLessThanOrEqual(end.endedAt);
  });

  it("streams the bytes unchanged, requests usage and hides it from a client that did not request it", async () => {
    const answer = await ask("well", true);
    expect(await read(answer)).toBe(EVENTS.join("") + DONE_EVENT);
    const end = await answer.end;
    expect(end.usage).toMatchObject({ promptTokens: 9, completionTokens: 2 });
    expect(end.events).toBe(EVENTS.length);
    expect(JSON.parse(host.received.at(-1)!.body.toString())).toMatchObject(ASKS_USAGE);
  });

  it("passes on the usage to a client that requested it", async () => {
    const answer = await upstream("well").call(request(true, ASKS_USAGE), never);
    const text = await read(answer);
    expect(text).toContain('"choices":[],"usage":{"prompt_tokens":9');
    expect(text.endsWith(DONE_EVENT)).toBe(true);
  });

  it("does not request usage if the upstream always sends it", async () => {
    const made = new HttpUpstream(
      { name: "host", url: host.url("well"), requestsUsage: false },
      systemClock,
    );
    open.push(made);
    await read(await made.call(request(true), never));
    expect(host.received.at(-1)!.body.toString()).not.toContain("stream_options");
  });

  it("sends the key to the path of the endpoint", async () => {
    const call = { ...request(false), endpoint: "embeddings" } as const;
    await read(await upstream("well").call(call, never));
    const { path, headers } = host.received.at(-1)!;
    expect(path).toBe("/well/v1/embeddings");
    expect(headers).toMatchObject({
      authorization: "Bearer k",
      "content-type": "application/json",
    });
  });

  it.each<Fault>([
    "dribble",
    "namedEvents",
    "plainText",
    "noDone",
    "noBlankLine",
    "resetAfterDone",
  ])("is understood if it is unusual but complete: %s", async (fault) => {
    const answer = await ask(fault, true);
    const events = await pieces(answer.body);
    for (const event of events) expect(event).toMatch(/(\r?\n){2}$/);
    const text = events.join("").replaceAll("\r", "");
    for (const event of EVENTS) expect(text).toContain(event.trim());
    expect((await answer.end).error).toBeUndefined();
  });

  it("ends at [DONE], even if the connection stays open", async () => {
    const answer = await ask("lingering", true);
    expect(await read(answer)).toBe(EVENTS.join("") + DONE_EVENT);
    expect((await answer.end).error).toBeUndefined();
  });

  it("lists its models", async () => {
    expect(await upstream("models").models(never)).toEqual(["a", "b"]);
  });

  it("reuses its connections", async () => {
    const made = upstream("well");
    for (let i = 0; i < 10; i++) await read(await made.call(request(i % 2 === 0), never));
    const ports = new Set(host.received.slice(-10).map(({ port }) => port));
    // An answer is read before its connection is free again, so the next request may open another.
    expect(ports.size).toBeLessThanOrEqual(2);
  });
});

describe("a fault before the first byte", () => {
  const SHORT = { firstByteMs: 50, totalMs: 100 };
  it.each<[Fault, boolean, object, Partial<UpstreamError>]>([
    [
      "hang",
      true,
      SHORT,
      {
        code: "timeout",
        clientStatus: 504,
        message: "host did not send a first byte within 50 ms",
      },
    ],
    ["hang", false, SHORT, { message: "host did not send a first byte within 50 ms" }],
    [
      "hang",
      false,
      { totalMs: 100 },
      { code: "timeout", message: "host did not send a complete answer within 100 ms" },
    ],
    [
      "comments",
      true,
      { firstByteMs: 100 },
      { code: "timeout", message: "host did not send a first byte within 100 ms" },
    ],
    [
      "comments",
      true,
      { idleMs: 1000, totalMs: 200 },
      { code: "timeout", message: "host did not send a complete answer within 200 ms" },
    ],
    ["reset", true, {}, { code: "unreachable", clientStatus: 502 }],
    ["reset", false, {}, { code: "unreachable" }],
    ["resetAfterHead", true, {}, { code: "unreachable" }],
    ["halfJson", false, {}, { code: "broken", clientStatus: 502 }],
    ["shortBody", false, {}, { code: "unreachable" }],
    ["html", true, {}, { code: "broken" }],
    ["html", false, {}, { code: "broken" }],
    ["gzip", false, {}, { code: "broken" }],
    [
      "error500",
      true,
      {},
      { code: "status", status: 500, clientStatus: 500, message: "host answered 500: no: 500" },
    ],
    [
      "rateLimited",
      false,
      {},
      { code: "status", status: 429, clientStatus: 429, retryAfter: 3_600_000 },
    ],
    [
      "errorAtOnce",
      true,
      {},
      { code: "status", status: 500, message: "host answered 500: overloaded" },
    ],
  ])(
    "rejects the call with a retryable error: %s (stream: %s)",
    async (fault, stream, limits, expected) => {
      const error = await errorOf(ask(fault, stream, limits));
      expect(error).toMatchObject({ retryable: true, fault: "upstream", ...expected });
    },
  );

  it("is read from JSON in the place of a stream", async () => {
    expect(await errorOf(ask("errorForStream", true))).toMatchObject({
      ...{ code: "status", status: 400, refusal: { kind: "context_length", limit: 5 } },
      message: "host answered 400: This model's maximum context length is 5 tokens",
    });
    expect(await errorOf(ask("jsonForStream", true))).toMatchObject({
      ...{ code: "broken", message: "host sent JSON instead of a stream", retryable: true },
      lost: [{ promptTokens: 9, completionTokens: 2 }],
    });
  });

  it("is reported in the upstream's own words if the request was refused", async () => {
    const error = await errorOf(ask("error400", false));
    expect(error).toMatchObject({
      retryable: false,
      fault: "request",
      clientStatus: 400,
      elsewhere: false,
    });
    expect(JSON.parse(error.toJson())).toEqual({
      error: { message: "no: 400", type: "t", param: null, code: "c" },
    });
  });

  it("counts as the operator's fault if the key was refused, and its message does not repeat the key", async () => {
    const error = await errorOf(ask("error401", false));
    expect(error).toMatchObject({
      retryable: false,
      fault: "upstream",
      clientStatus: 502,
      elsewhere: true,
    });
    expect(error.toJson()).not.toContain("no: 401");
    expect(JSON.parse(error.toJson()).error).toMatchObject({
      message: expect.stringMatching(/ answered 401$/),
      hint: expect.stringMatching(/^check the key/),
    });
  });

  it("may be a redirect, which is not followed", async () => {
    expect(await errorOf(ask("redirect", false))).toMatchObject({ status: 302, clientStatus: 502 });
  });

  it("has only the beginning of an endless error body", async () => {
    const error = await errorOf(ask("hugeError", false));
    expect(error.body!.length).toBe(64 * 1024);
    expect(error.message.length).toBeLessThan(600);
  });

  it("is called unreachable if there is no upstream", async () => {
    const gone = new HttpUpstream({ name: "gone", url: "http://127.0.0.1:1/v1" }, systemClock);
    const error = await errorOf(gone.call(request(false), never));
    expect(error).toMatchObject({ code: "unreachable", retryable: true });
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("is found before anything is sent if the body is not JSON", async () => {
    const call = { ...request(false), body: Buffer.from('{"model":') };
    const error = await errorOf(upstream("well").call(call, never));
    expect(error).toMatchObject({ code: "request", fault: "request", clientStatus: 400 });
  });

  it("is reported if no header can contain the key", async () => {
    const odd = new HttpUpstream(
      { name: "odd", url: host.url("well"), headers: { authorization: "Bearer a\nb" } },
      systemClock,
    );
    expect(await errorOf(odd.call(request(false), never))).toMatchObject({ code: "unreachable" });
  });
});

describe("a fault during a stream", () => {
  it.each<[Fault, object, UpstreamError["code"], RegExp]>([
    ["resetMidStream", {}, "unreachable", /closed the connection too early/],
    ["stall", { idleMs: 500 }, "timeout", /did not send anything for 500 ms/],
    ["brokenSse", {}, "broken", /a line that belongs to no event/],
    ["brokenEvent", {}, "broken", /a broken event/],
    ["cutEvent", {}, "broken", /a broken event/],
    ["earlyClose", {}, "broken", /sent an incomplete answer/],
    ["errorInStream", {}, "status", /answered 503: overloaded/],
    ["hugeLine", {}, "too_large", /an event has more than 4194304 bytes/],
    ["endless", { answerBytes: 1e6 }, "too_large", /an answer of more than 1000000 bytes/],
    [
      "endless",
      { totalMs: 1000, answerBytes: 1e12 },
      "timeout",
      /did not send a complete answer within 1000 ms/,
    ],
  ])("ends it with an error event: %s %j", async (fault, limits, code, message) => {
    const answer = await ask(fault, true, limits);
    const events: string[] = [];
    await passPieces(answer.body, chat, (piece) => {
      events.push(Buffer.from(piece).toString());
      return undefined;
    });
    expect(events.join("").startsWith(EVENTS[0]!) || fault === "endless").toBe(true);
    const last = events.join("").trimEnd().split("\n\n").at(-1)!;
    expect(last).toMatch(/^data: \{"error":/);
    const { error } = JSON.parse(last.slice("data: ".length));
    expect(error).toMatchObject({
      message: expect.stringMatching(message),
      type: "upstream_error",
    });
    const end = await answer.end;
    expect(end.error).toMatchObject({ code, fault: "upstream" });
    expect(end.usage).toBeUndefined();
  });

  it("throws an UpstreamError after the bytes that arrived", async () => {
    const answer = await ask("resetMidStream", true);
    const seen: string[] = [];
    const error = await errorOf(
      (async () => {
        for await (const piece of answer.body) seen.push(Buffer.from(piece).toString());
      })(),
    );
    expect(error.code).toBe("unreachable");
    expect(seen.join("")).toBe(EVENTS[0]! + EVENTS[1]!);
  });
});

describe("a client that disconnects", () => {
  const abandoned = async (before: number) => {
    while (host.abandoned() === before) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it("stops an upstream that has not begun", async () => {
    const before = host.abandoned();
    const client = new AbortController();
    const call = upstream("hang").call(request(true), client.signal);
    while (host.received.at(-1)!.path !== "/hang/v1/chat/completions") {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    client.abort();
    expect(await errorOf(call)).toMatchObject({
      code: "cancelled",
      fault: "client",
      retryable: false,
    });
    await abandoned(before);
  });

  it("stops a stream by its signal", async () => {
    const before = host.abandoned();
    const client = new AbortController();
    const answer = await upstream("stall").call(request(true), client.signal);
    const reading = read(answer);
    client.abort();
    expect(await errorOf(reading)).toMatchObject({ code: "cancelled" });
    expect((await answer.end).error?.code).toBe("cancelled");
    await abandoned(before);
  });

  it("stops a stream by leaving the loop", async () => {
    const before = host.abandoned();
    const answer = await ask("endless", true);
    for await (const _ of answer.body) break;
    expect((await answer.end).error?.code).toBe("cancelled");
    await abandoned(before);
  });

  it("has the whole answer at [DONE], so there is no error and the usage is known", async () => {
    const client = new AbortController();
    const answer = await upstream("lingering").call(request(true), client.signal);
    for await (const piece of answer.body) if (Buffer.from(piece).includes("[DONE]")) break;
    client.abort();
    expect(await answer.end).toMatchObject({ error: undefined, usage: { completionTokens: 2 } });
  });

  it("causes no call if it has disconnected before", async () => {
    const before = host.received.length;
    const call = upstream("well").call(request(false), AbortSignal.abort());
    expect(await errorOf(call)).toMatchObject({ code: "cancelled" });
    expect(host.received.length).toBe(before);
  });

  it("pauses the upstream by reading slowly, instead of filling memory", async () => {
    const answer = await ask("endless", true, { answerBytes: 1e12 });
    const iterator = answer.body[Symbol.asyncIterator]();
    await iterator.next();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await iterator.return!();
    const { events } = await answer.end;
    expect(6000 * events).toBeLessThan(1e6); // bytes
  });
});
