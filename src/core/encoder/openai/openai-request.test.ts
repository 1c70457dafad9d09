import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { nowhere } from "../download/http-server.fixture.ts";
import { base64, type Handler, KEY, setUp, status, vectors } from "./openai.fixture.ts";
import { type OpenaiOptions, openaiEncoder } from "./openai.ts";

describe("retries", () => {
  it.each([
    ["408", status(408)],
    ["409", status(409)],
    ["429", status(429)],
    ["500", status(500)],
    [
      "503 with a page of HTML",
      ((_, response) => response.writeHead(503).end("<html>")) as Handler,
    ],
    ["a connection that is reset", ((_, response) => response.destroy()) as Handler],
    [
      "a connection that breaks during the response",
      ((_, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"data":[{"ind');
        setTimeout(() => response.destroy(), 5);
      }) as Handler,
    ],
  ])("%s", async (_, bad) => {
    const { encoder, requests, slept } = await setUp([bad, bad]);
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(requests.length).toBe(3);
    expect(slept.length).toBe(2);
  });

  it("a response that takes too long", async () => {
    const never: Handler = () => {};
    // A correct response is faster, even on a busy machine.
    const { encoder, requests } = await setUp([never], { timeout: 2000 });
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(requests.length).toBe(2);
  });

  it("after a wait that doubles up to 8 s, with jitter from the generator", async () => {
    const { encoder, slept } = await setUp(new Array<Handler>(9).fill(status(500)), {
      attempts: 8,
    });
    await expect(encoder.encode(["a"])).rejects.toThrow(errorText(/failed \(500: no\)/));
    expect(slept.length).toBe(7);
    const full = [500, 1000, 2000, 4000, 8000, 8000, 8000];
    for (const [i, wait] of slept.entries()) {
      expect(wait).toBeGreaterThanOrEqual(full[i]! / 2);
      expect(wait).toBeLessThanOrEqual(full[i]!);
    }
    expect(new Set(slept.map((wait, i) => wait / full[i]!)).size).toBe(7);
    const again = await setUp(new Array<Handler>(9).fill(status(500)), { attempts: 8 });
    await expect(again.encoder.encode(["a"])).rejects.toThrow();
    expect(again.slept).toEqual(slept); // the same seed
  });

  it("not before the time that the server names, in seconds or as a date by its own clock", async () => {
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

  it("not at all if the server asks for more than two minutes", async () => {
    const { encoder, slept } = await setUp([
      status(429, "come tomorrow", { "retry-after": "86400" }),
    ]);
    await expect(encoder.encode(["a"])).rejects.toThrow(errorText(/failed \(429: come tomorrow\)/));
    expect(slept).toEqual([]);
  });

  it("and reports the failure in the end", async () => {
    const { encoder, requests } = await setUp(
      new Array<Handler>(9).fill((_, response) => response.destroy()),
    );
    await expect(encoder.encode(["a"])).rejects.toThrow(
      errorText(/^127\.0\.0\.1:\d+: broke the connection/),
    );
    expect(requests.length).toBe(6);
  });

  it("a server that does not run", async () => {
    const slept: number[] = [];
    const encoder = openaiEncoder({
      apiKey: KEY,
      baseUrl: await nowhere(),
      attempts: 2,
      sleep: async (milliseconds) => void slept.push(milliseconds),
    });
    await expect(encoder.encode(["a"])).rejects.toThrow(
      errorText(
        /^127\.0\.0\.1:\d+: refuses connections: no server is running at that address; hint: try again later/,
      ),
    );
    expect(slept.length).toBe(1);
  });
});

describe("rejects at once", () => {
  it("an invalid key, and names the variable instead of the key", async () => {
    const { encoder, requests } = await setUp([status(401, `Incorrect API key provided: ${KEY}`)]);
    const error = await encoder.encode(["a"]).catch((e: Error) => e);
    expect(String(error)).toMatch(/OPENAI_API_KEY: was rejected by 127.0.0.1:\d+ \(401\)/);
    expect(String(error)).not.toContain("sk-test");
    expect(requests.length).toBe(1);
  });

  const data =
    (...entries: unknown[]): Handler =>
    (_, response) =>
      response.end(JSON.stringify({ data: entries }));
  const good = base64([1, 2, 3, 4]);
  const empty = {
    error: { message: "You exceeded your current quota", code: "insufficient_quota" },
  };
  it.each<[string, Handler, RegExp]>([
    [
      "an account without credit",
      (_, response) => response.writeHead(429).end(JSON.stringify(empty)),
      /OPENAI_API_KEY: has no quota left .*\(429: You exceeded/,
    ],
    [
      "an unknown model",
      status(404, "no such model"),
      /rejected the request \(404: no such model\); hint: check .*"text-embedding-3-large"/,
    ],
    [
      "a bad request",
      status(400, "bad dimensions"),
      /rejected the request \(400: bad dimensions\)/,
    ],
    [
      "an embedding of another length",
      data({ index: 0, embedding: base64([1, 2, 3]) }, { index: 1, embedding: good }),
      /returned an embedding of 3 numbers; text-embedding-3-large should have 4/,
    ],
    [
      "an incomplete float32",
      data({ index: 0, embedding: "AAAAAAA=" }, { index: 1, embedding: good }),
      /returned an embedding of 0 numbers/,
    ],
    [
      "too few embeddings",
      data({ index: 0, embedding: good }),
      /returned 1 embeddings for 2 texts/,
    ],
    [
      "too many embeddings",
      data(...[0, 1, 2].map((index) => ({ index, embedding: good }))),
      /returned 3 embeddings for 2 texts/,
    ],
    [
      "a repeated index",
      data({ index: 1, embedding: good }, { index: 1, embedding: good }),
      /returned index 1 twice or out of range for 2 texts/,
    ],
    [
      "an index out of range",
      data({ index: 0, embedding: good }, { index: 2, embedding: good }),
      /returned index 2 twice or out of range for 2 texts/,
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
      /did not respond with embeddings \(\{"choices":\[\]\}\)/,
    ],
    [
      "no JSON",
      (_, response) => response.end("<html>Welcome to the proxy"),
      /did not respond with embeddings \(<html>Welcome/,
    ],
  ])("%s", async (_, bad, message) => {
    const { encoder, requests } = await setUp([bad]);
    await expect(encoder.encode(["a", "b"])).rejects.toThrow(errorText(message));
    expect(requests.length).toBe(1);
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
    ["a length of 0", { dimensions: 0 }, /field "dimensions": is 0/],
    ["a fraction as length", { dimensions: 1.5 }, /field "dimensions": is 1.5/],
    [
      "an invalid address",
      { baseUrl: "localhost" },
      /OPENAI_BASE_URL: is "localhost"; hint: write it as https/,
    ],
    [
      "an address with a password, which is not shown",
      { baseUrl: "https://me:secret@x/v1" },
      /^OPENAI_BASE_URL: contains a user name or a password; hint: remove them, [^@]*$/,
    ],
    ["another protocol", { baseUrl: "ftp://x/v1" }, /OPENAI_BASE_URL: is "ftp/],
  ])("%s, before anything is sent", (_, options, message) => {
    expect(() => openaiEncoder({ apiKey: KEY, ...options })).toThrow(errorText(message));
  });
});
