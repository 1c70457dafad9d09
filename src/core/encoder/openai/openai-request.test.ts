import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { nowhere } from "../download/http-server.fixture.ts";
import { type Answer, base64, KEY, setUp, status, vectors } from "./openai.fixture.ts";
import { type OpenaiOptions, openaiEncoder } from "./openai.ts";

describe("what passes is tried again", () => {
  it.each([
    ["408", status(408)],
    ["409", status(409)],
    ["429", status(429)],
    ["500", status(500)],
    ["503 with a page of HTML", ((_, response) => response.writeHead(503).end("<html>")) as Answer],
    ["a connection that is reset", ((_, response) => response.destroy()) as Answer],
    [
      "a connection that breaks within the answer",
      ((_, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"data":[{"ind');
        setTimeout(() => response.destroy(), 5);
      }) as Answer,
    ],
  ])("%s", async (_, bad) => {
    const { encoder, asked, slept } = await setUp([bad, bad]);
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(asked.length).toBe(3);
    expect(slept.length).toBe(2);
  });

  it("an answer that does not come in time", async () => {
    const never: Answer = () => {};
    // A good answer needs less, however busy the machine.
    const { encoder, asked } = await setUp([never], { timeout: 2000 });
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(asked.length).toBe(2);
  });

  it("after twice the time each time, up to 8 s, with jitter from the generator", async () => {
    const { encoder, slept } = await setUp(new Array<Answer>(9).fill(status(500)), { attempts: 8 });
    await expect(encoder.encode(["a"])).rejects.toThrow(errorText(/failed \(500: no\)/));
    expect(slept.length).toBe(7);
    const full = [500, 1000, 2000, 4000, 8000, 8000, 8000];
    for (const [i, wait] of slept.entries()) {
      expect(wait).toBeGreaterThanOrEqual(full[i]! / 2);
      expect(wait).toBeLessThanOrEqual(full[i]!);
    }
    expect(new Set(slept.map((wait, i) => wait / full[i]!)).size).toBe(7);
    const again = await setUp(new Array<Answer>(9).fill(status(500)), { attempts: 8 });
    await expect(again.encoder.encode(["a"])).rejects.toThrow();
    expect(again.slept).toEqual(slept); // the same seed
  });

  it("not before the server wants: seconds, or a date by its own clock", async () => {
    const seconds = status(429, "slow down", { "retry-after": "30" });
    const date = status(503, "later", {
      date: "Wed, 21 Oct 2015 07:28:00 GMT",
      "retry-after": "Wed, 21 Oct 2015 07:28:45 GMT",
    });
    const past = status(429, "now", { "retry-after": "-5" });
    const odd = status(429, "now", { "retry-after": "soon" });
    const { encoder, slept } = await setUp([seconds, date, past, odd]);
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(slept.slice(0, 2)).toEqual([30_000, 45_000]);
    expect(slept[2]).toBeLessThanOrEqual(2000);
    expect(slept[3]).toBeLessThanOrEqual(4000);
  });

  it("but not where it wants more than two minutes", async () => {
    const { encoder, slept } = await setUp([
      status(429, "come tomorrow", { "retry-after": "86400" }),
    ]);
    await expect(encoder.encode(["a"])).rejects.toThrow(errorText(/failed \(429: come tomorrow\)/));
    expect(slept).toEqual([]);
  });

  it("and the failure is told in the end", async () => {
    const { encoder, asked } = await setUp(
      new Array<Answer>(9).fill((_, response) => response.destroy()),
    );
    await expect(encoder.encode(["a"])).rejects.toThrow(
      errorText(/^127\.0\.0\.1:\d+: broke the connection/),
    );
    expect(asked.length).toBe(6);
  });

  it("a server that is not there", async () => {
    const slept: number[] = [];
    const encoder = openaiEncoder({
      apiKey: KEY,
      baseUrl: await nowhere(),
      attempts: 2,
      sleep: async (milliseconds) => void slept.push(milliseconds),
    });
    await expect(encoder.encode(["a"])).rejects.toThrow(
      errorText(
        /^127\.0\.0\.1:\d+: refuses connections: nothing runs at that address; hint: try again later/,
      ),
    );
    expect(slept.length).toBe(1);
  });
});

describe("refuses at once", () => {
  it("a key that is not valid: names the variable, not the key", async () => {
    const { encoder, asked } = await setUp([status(401, `Incorrect API key provided: ${KEY}`)]);
    const error = await encoder.encode(["a"]).catch((e: Error) => e);
    expect(String(error)).toMatch(/OPENAI_API_KEY: is refused by 127.0.0.1:\d+ \(401\)/);
    expect(String(error)).not.toContain("sk-test");
    expect(asked.length).toBe(1);
  });

  const data =
    (...entries: unknown[]): Answer =>
    (_, response) =>
      response.end(JSON.stringify({ data: entries }));
  const good = base64([1, 2, 3, 4]);
  const empty = {
    error: { message: "You exceeded your current quota", code: "insufficient_quota" },
  };
  it.each<[string, Answer, RegExp]>([
    [
      "an account without credit",
      (_, response) => response.writeHead(429).end(JSON.stringify(empty)),
      /OPENAI_API_KEY: has no quota left .*\(429: You exceeded/,
    ],
    [
      "an unknown model",
      status(404, "no such model"),
      /refused the request \(404: no such model\); hint: check .*"text-embedding-3-large"/,
    ],
    ["a bad request", status(400, "bad dimensions"), /refused the request \(400: bad dimensions\)/],
    [
      "a vector of another length",
      data({ index: 0, embedding: base64([1, 2, 3]) }, { index: 1, embedding: good }),
      /gave a vector of 3 numbers where text-embedding-3-large should have 4/,
    ],
    [
      "bytes that are no float32",
      data({ index: 0, embedding: "AAAAAAA=" }, { index: 1, embedding: good }),
      /gave a vector of 0 numbers/,
    ],
    ["too few vectors", data({ index: 0, embedding: good }), /gave 1 vectors for 2 texts/],
    [
      "too many vectors",
      data(...[0, 1, 2].map((index) => ({ index, embedding: good }))),
      /gave 3 vectors for 2 texts/,
    ],
    [
      "an index twice",
      data({ index: 1, embedding: good }, { index: 1, embedding: good }),
      /two vectors or none for a text: index 1/,
    ],
    [
      "an index out of range",
      data({ index: 0, embedding: good }, { index: 2, embedding: good }),
      /two vectors or none for a text: index 2/,
    ],
    [
      "NaN",
      data({ index: 0, embedding: good }, { index: 1, embedding: base64([1, Number.NaN, 3, 4]) }),
      /not finite/,
    ],
    [
      "a number too large",
      (_, response) =>
        response.end(
          '{"data":[{"index":0,"embedding":[1,2,3,1e300]},{"index":1,"embedding":[1,2,3,4]}]}',
        ),
      /not finite/,
    ],
    [
      "no embeddings",
      (_, response) => response.end('{"choices":[]}'),
      /did not answer with embeddings \(\{"choices":\[\]\}\)/,
    ],
    [
      "no JSON",
      (_, response) => response.end("<html>Welcome to the proxy"),
      /did not answer with embeddings \(<html>Welcome/,
    ],
  ])("%s", async (_, bad, message) => {
    const { encoder, asked } = await setUp([bad]);
    await expect(encoder.encode(["a", "b"])).rejects.toThrow(errorText(message));
    expect(asked.length).toBe(1);
  });

  it.each<[string, Partial<OpenaiOptions>, RegExp]>([
    [
      "no key for OpenAI",
      { apiKey: undefined },
      /OPENAI_API_KEY: is not set; hint: set it to a key/,
    ],
    ["an empty key", { apiKey: "" }, /OPENAI_API_KEY: is not set/],
    [
      "a model of unknown length",
      { model: "mystery" },
      /mystery: field "dimensions": is not known/,
    ],
    ["no length", { dimensions: 0 }, /field "dimensions": is 0/],
    ["half a number", { dimensions: 1.5 }, /field "dimensions": is 1.5/],
    [
      "an address that is none",
      { baseUrl: "localhost" },
      /OPENAI_BASE_URL: is "localhost"; hint: write it as https/,
    ],
    [
      "an address with a password, which it does not repeat",
      { baseUrl: "https://me:secret@x/v1" },
      /^OPENAI_BASE_URL: has a name or a password in it; hint: leave them out, [^@]*$/,
    ],
    ["another protocol", { baseUrl: "ftp://x/v1" }, /OPENAI_BASE_URL: is "ftp/],
  ])("%s, before anything is sent", (_, options, message) => {
    expect(() => openaiEncoder({ apiKey: KEY, ...options })).toThrow(errorText(message));
  });
});
