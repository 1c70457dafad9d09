import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UpstreamError } from "../upstream/error.ts";
import { OpenAiStream } from "./stream.ts";

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const text = (content: string, rest = {}) =>
  event({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }], ...rest });
const FINAL = event({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const COUNTS = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const USAGE = event({ id: "c", choices: [], usage: COUNTS });
const DONE = "data: [DONE]\n\n";

function read(chunks: readonly (string | Buffer)[], hideUsage = true) {
  const stream = new OpenAiStream("host", hideUsage, 1e6);
  const passed: Uint8Array[] = [];
  const pass = (bytes: Uint8Array) => passed.push(bytes);
  let error: UpstreamError | undefined;
  try {
    for (const chunk of chunks) stream.push(Buffer.from(chunk), pass);
    stream.end(pass);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UpstreamError);
    error = thrown as UpstreamError;
  }
  return {
    out: Buffer.concat(passed).toString(),
    usage: stream.usage,
    events: stream.events,
    error,
  };
}

describe("usage", () => {
  it("is read, and its event is hidden if the client did not request it", () => {
    const sent = text("Hi", { usage: null }) + FINAL + USAGE + DONE;
    expect(read([sent])).toMatchObject({
      out: sent.replace(USAGE, ""),
      usage: { promptTokens: 9, completionTokens: 2 },
      events: 2,
      error: undefined,
    });
    expect(read([sent], false).out).toBe(sent);
  });

  it.each([
    [
      "from the last chunk, as Mistral sends it",
      event({ choices: [{ delta: {}, finish_reason: "stop" }], usage: COUNTS }),
    ],
    [
      "from Groq's own member",
      event({
        choices: [{ delta: {}, finish_reason: "stop" }],
        x_groq: { id: "r", usage: COUNTS },
      }),
    ],
    [
      "from every event, as vLLM may send it",
      text("x", { usage: { ...COUNTS, completion_tokens: 1 } }) +
        event({ choices: [{ delta: {}, finish_reason: "stop" }], usage: COUNTS }),
    ],
  ])("is read %s, without hiding text", (_, last) => {
    const sent = text("Hi") + last + DONE;
    expect(read([sent])).toMatchObject({ out: sent, usage: { completionTokens: 2 } });
  });

  it("is unknown if the stream has none", () => {
    expect(read([text("Hi") + FINAL + DONE]).usage).toBeUndefined();
  });

  it("is not read from the model's text", () => {
    const words = text('"usage":{"prompt_tokens":1}', { nested: { usage: COUNTS } });
    expect(read([words + FINAL + DONE]).usage).toBeUndefined();
  });
});

it("passes on the same bytes, however they are split", () => {
  const said = fc.array(fc.string({ unit: "binary" }), { maxLength: 6 });
  fc.assert(
    fc.property(said, fc.array(fc.nat(3000)), (words, cuts) => {
      const sent = Buffer.from(words.map((word) => text(word)).join("") + FINAL + USAGE + DONE);
      const places = [0, ...cuts.map((at) => at % (sent.length + 1)), sent.length].toSorted(
        (a, b) => a - b,
      );
      const chunks = places.slice(1).map((end, i) => sent.subarray(places[i], end));
      const result = read(chunks);
      expect(result.out).toBe(sent.toString().replace(USAGE, ""));
      expect(result.usage?.promptTokens).toBe(9);
      expect(result.error).toBeUndefined();
    }),
    { seed: 1, numRuns: 100 },
  );
});

describe("an unusual but complete stream", () => {
  it.each([
    ["comments", `${text("a")}: ping\n\n${FINAL}${DONE}`],
    ["names and ids", `event: chunk\nid: 1\n${text("a")}${FINAL}${DONE}`],
    ["no blank after the colon", `${text("a")}${FINAL}${DONE}`.replaceAll("data: ", "data:")],
    ["CRLF", `${text("a")}${FINAL}${DONE}`.replaceAll("\n", "\r\n")],
    ["blanks around", `data:   {"id":"c"} \n\n${FINAL}data: [DONE] \n\n`],
    ["a retry field", `${FINAL}retry: 3000\n\n${DONE}`],
    ["no [DONE], but a reason to finish", text("a") + FINAL],
    [
      "no [DONE], a reason to finish, then usage",
      text("a") + FINAL + event({ choices: [{ delta: {} }] }),
    ],
    ["an error that is null", text("a", { error: null }) + FINAL + DONE],
  ])("%s", (_, sent) => {
    expect(read([sent])).toMatchObject({ out: sent, error: undefined });
  });

  it.each([
    [
      "data on several lines",
      `event: e\ndata: {"id":"c",\ndata: "a":1}\n\n`,
      'event: e\ndata: {"id":"c", "a":1}\n\n',
    ],
    ["lines that end in CR", FINAL.replaceAll("\n", "\r"), FINAL],
    ["a comment that ends in CR", `${FINAL}: ping\r\r`, `${FINAL}:\n\n`],
    ["a blank line that is a CR", FINAL.replace("\n\n", "\n\r"), FINAL],
    ["a byte order mark", `\ufeff${FINAL}`, FINAL],
  ])("is passed on in the usual form: %s", (_, sent, out) => {
    expect(read([sent + FINAL + DONE])).toMatchObject({
      out: out + FINAL + DONE,
      error: undefined,
    });
    const bytes = [...Buffer.from(sent + FINAL + DONE)].map((byte) => Buffer.of(byte));
    const [whole, split] = [out, read(bytes).out].map((text) => text.replaceAll(/\n+/g, "\n"));
    expect(split?.startsWith(whole!)).toBe(true);
  });

  it("begins with the first data, not with comments before it", () => {
    const comments = ": OPENROUTER PROCESSING\n\n".repeat(2);
    expect(read([comments, FINAL + DONE])).toMatchObject({ out: FINAL + DONE, error: undefined });
  });

  it("gets the blank line that is missing at its end", () => {
    expect(read([`${FINAL}data: [DONE]`]).out).toBe(`${FINAL}data: [DONE]\n\n`);
  });

  it("ends with [DONE], whatever follows", () => {
    expect(read([FINAL + DONE, "data: nonsense\n\nmore"])).toMatchObject({
      out: FINAL + DONE,
      error: undefined,
    });
  });
});

describe("a broken stream", () => {
  it.each([
    ["half an event", `${text("a")}data: {"id":"c","cho`, /broken event/],
    [
      "an event that is cut and ended",
      `${text("a")}data: {"id":"c","cho\n\n${FINAL}${DONE}`,
      /broken event/,
    ],
    ["no JSON", `${text("a")}data: hello\n\n${DONE}`, /broken event/],
    ["no object", `${text("a")}data: [1]\n\n${DONE}`, /broken event/],
    ["no event", `${text("a")}hello\n\n${DONE}`, /line that belongs to no event/],
    ["no end", text("a"), /sent an incomplete answer/],
    ["an error", `${text("a")}${event({ error: { message: "boom" } })}`, /answered 500: boom/],
    ["an error that is a text", `${text("a")}${event({ error: "boom" })}`, /answered 500: boom/],
    [
      "an error with a status",
      `${text("a")}${event({ error: { message: "busy", code: 429 } })}`,
      /answered 429: busy/,
    ],
    ["a huge event", `${text("a")}data: ${"x".repeat(2e6)}`, /more than 1000000 bytes/],
  ])("passes on the events before and throws: %s", (_, sent, message) => {
    const { out, error } = read([sent]);
    expect(out).toBe(text("a"));
    expect(error?.message).toMatch(message);
    expect(error?.fault).toBe("upstream");
  });

  it.each(["", ": ping\n\n", "\n", DONE, `: ping\n\n${DONE}`, USAGE + DONE])(
    "of %j contains no answer",
    (sent) => {
      expect(read([sent]).error?.message).toMatch(/sent no answer/);
    },
  );
});
