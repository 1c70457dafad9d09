import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Random } from "../random/random.ts";
import { bodyOf, nowhere, serve } from "./http-server.fixture.ts";
import { type OpenaiOptions, openaiEncoder } from "./openai.ts";

const KEY = "sk-test-not-a-real-key";
const DIMENSION = 4;

/** What the server makes of a text: equal texts, equal vectors, exact in float32. */
function vectorOf(text: string): number[] {
  const codes = [...text].map((c) => c.codePointAt(0)!);
  const sum = codes.reduce((total, code) => total + code, 0);
  return [text.length, codes[0] ?? 0, sum % 4096, 0.5];
}

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format: string;
}

type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

const answer: Answer = ({ input }, response) => {
  const data = input.map((text, index) => ({ index, embedding: base64(vectorOf(text)) }));
  response.end(JSON.stringify({ object: "list", data }));
};

function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

const status =
  (code: number, message = "no", headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end(JSON.stringify({ error: { message } }));

/** An encoder of a server that gives these answers in turn, then good ones. */
async function setUp(bad: readonly Answer[] = [], options: Partial<OpenaiOptions> = {}) {
  const asked: Asked[] = [];
  const slept: number[] = [];
  const baseUrl = await serve(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as Asked;
    asked.push(body);
    expect(request.method).toBe("POST");
    expect(request.url).toBe("/v1/embeddings");
    await (bad[asked.length - 1] ?? answer)(body, response, request);
  });
  const encoder = openaiEncoder({
    apiKey: KEY,
    baseUrl: `${baseUrl}/v1`,
    dimensions: DIMENSION,
    random: Random.seeded(1),
    sleep: async (milliseconds) => void slept.push(milliseconds),
    ...options,
  });
  return { encoder, asked, slept, texts: () => asked.flatMap(({ input }) => input) };
}

const vectors = (...texts: string[]) => texts.map((text) => Float64Array.from(vectorOf(text)));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-openai-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it("encodes, in the texts' order, each text once", async () => {
  const { encoder, asked } = await setUp();
  expect(await encoder.encode(["b", "a", "b"])).toEqual(vectors("b", "a", "b"));
  expect(asked).toEqual([
    {
      model: "text-embedding-3-large",
      input: ["b", "a"],
      dimensions: 4,
      encoding_format: "base64",
    },
  ]);
  expect(await encoder.encode([])).toEqual([]);
  expect(asked.length).toBe(1);
});

it("names the paper's model as the paper does; asks for a length only where it is not the model's own", async () => {
  const plain = { apiKey: KEY };
  expect(openaiEncoder(plain)).toMatchObject({ name: "OpenAItext", dimension: 3072 });
  const small = openaiEncoder({ ...plain, model: "text-embedding-3-small" });
  expect(small).toMatchObject({ name: "text-embedding-3-small", dimension: 1536 });
  const { encoder, asked } = await setUp([], { model: "bge-small" });
  await encoder.encode(["a"]);
  expect(asked[0]).not.toHaveProperty("dimensions");
});

it("sends the key, and none where there is none", async () => {
  const seen: (string | undefined)[] = [];
  const look: Answer = (body, response, request) => {
    seen.push(request.headers.authorization);
    answer(body, response, request);
  };
  await (await setUp([look])).encoder.encode(["a"]);
  await (await setUp([look], { apiKey: undefined })).encoder.encode(["a"]);
  expect(seen).toEqual([`Bearer ${KEY}`, undefined]);
});

describe("batches", () => {
  it("hold at most 256 texts", async () => {
    const { encoder, asked } = await setUp();
    const many = Array.from({ length: 600 }, (_, i) => `text ${i}`);
    expect(await encoder.encode(many)).toEqual(vectors(...many));
    expect(asked.map(({ input }) => input.length).toSorted((a, b) => a - b)).toEqual([
      88, 256, 256,
    ]);
  });

  it("hold few of the long ones", async () => {
    const { encoder, asked } = await setUp();
    const long = Array.from({ length: 40 }, (_, i) => `${i} `.padEnd(20_000, "word "));
    expect(await encoder.encode(long)).toEqual(vectors(...long));
    for (const { input } of asked) expect(input.join("").length).toBeLessThanOrEqual(200_000);
  });

  it("are sent three at a time where that is asked for", async () => {
    let open = 0;
    let most = 0;
    const third = Promise.withResolvers<void>();
    const hold: Answer = async (body, response, request) => {
      most = Math.max(most, ++open);
      // Time for a fourth, which must not come.
      if (open === 3) setTimeout(third.resolve, 20);
      await third.promise;
      open--;
      answer(body, response, request);
    };
    const many = Array.from({ length: 2600 }, (_, i) => `text ${i}`);
    const { encoder } = await setUp(new Array<Answer>(20).fill(hold), { concurrency: 3 });
    await encoder.encode(many);
    expect(most).toBe(3);
  });
});

describe("texts that the server would refuse", () => {
  it("are never sent empty", async () => {
    const { encoder, texts } = await setUp();
    expect(await encoder.encode(["", " \n", "a"])).toEqual(vectors(".", ".", "a"));
    expect(texts()).not.toContain("");
  });

  it("are cut, never in the middle of a character", async () => {
    const { encoder, texts } = await setUp();
    await encoder.encode(["\u{1f600}".repeat(20_000)]);
    const [sent] = texts();
    expect(Buffer.byteLength(sent!)).toBeLessThanOrEqual(4 * 8191);
    expect(sent).toMatch(/^\u{1f600}+$/u);
    expect(sent!.length).toBe(2 * 8191);
  });

  /** A server that counts a byte as a token and takes 1,000 of them in a text. */
  const strict: Answer = (asked, response, request) => {
    const limit = "This model's maximum context length is 1000 tokens, however you requested more.";
    const fits = asked.input.every((text) => text.length <= 1000);
    (fits ? answer : status(400, limit))(asked, response, request);
  };

  it("are found in their batch and cut until they fit; the batch changes nothing", async () => {
    const short = ["a", "b", "c", "d", "e"];
    const long = "x".repeat(5000);
    const { encoder } = await setUp(new Array<Answer>(50).fill(strict));
    const [alone] = await encoder.encode([long]);
    expect(alone).toEqual(vectors("x".repeat(625))[0]);
    const mixed = await encoder.encode([...short, long]);
    expect(mixed).toEqual([...vectors(...short), alone]);
  });

  it("are given up where no length helps", async () => {
    const never = new Array<Answer>(50).fill(status(400, "input is too long"));
    const { encoder } = await setUp(never);
    await expect(encoder.encode(["x".repeat(500)])).rejects.toThrow(
      /refused the request \(400: input is too long\)/,
    );
  });
});

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
    const { encoder, asked } = await setUp([never], { timeout: 50 });
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(asked.length).toBe(2);
  });

  it("after twice the time each time, up to 8 s, with jitter from the generator", async () => {
    const { encoder, slept } = await setUp(new Array<Answer>(9).fill(status(500)), { attempts: 8 });
    await expect(encoder.encode(["a"])).rejects.toThrow(/failed \(500: no\)/);
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
    await expect(encoder.encode(["a"])).rejects.toThrow(/failed \(429: come tomorrow\)/);
    expect(slept).toEqual([]);
  });

  it("and the failure is told in the end", async () => {
    const { encoder, asked } = await setUp(
      new Array<Answer>(9).fill((_, response) => response.destroy()),
    );
    await expect(encoder.encode(["a"])).rejects.toThrow(/^127\.0\.0\.1:\d+: broke the connection/);
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
      /^127\.0\.0\.1:\d+: refuses connections: nothing runs at that address; help: try again later/,
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
      /refused the request \(404: no such model\); help: check .*"text-embedding-3-large"/,
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
    await expect(encoder.encode(["a", "b"])).rejects.toThrow(message);
    expect(asked.length).toBe(1);
  });

  it.each<[string, Partial<OpenaiOptions>, RegExp]>([
    [
      "no key for OpenAI",
      { apiKey: undefined },
      /OPENAI_API_KEY: is not set; help: set it to a key/,
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
      /OPENAI_BASE_URL: is "localhost"; help: write it as https/,
    ],
    [
      "an address with a password, which it does not repeat",
      { baseUrl: "https://me:secret@x/v1" },
      /^OPENAI_BASE_URL: has a name or a password in it; help: leave them out, [^@]*$/,
    ],
    ["another protocol", { baseUrl: "ftp://x/v1" }, /OPENAI_BASE_URL: is "ftp/],
  ])("%s, before anything is sent", (_, options, message) => {
    expect(() => openaiEncoder({ apiKey: KEY, ...options })).toThrow(message);
  });
});

it("puts shuffled answers in order, and takes decimal numbers too", async () => {
  const shuffled: Answer = ({ input }, response) => {
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse();
    response.end(JSON.stringify({ data }));
  };
  const { encoder } = await setUp([shuffled]);
  expect(await encoder.encode(["a", "b", "c"])).toEqual(vectors("a", "b", "c"));
});

describe("the cache", () => {
  it("asks for no text twice, in this process or the next, and holds neither text nor key", async () => {
    const cacheDir = newFolder();
    const first = await setUp([], { cacheDir });
    await first.encoder.encode(["a secret", "b"]);
    await first.encoder.encode(["b", "c"]);
    expect(first.texts()).toEqual(["a secret", "b", "c"]);
    const second = await setUp([], { cacheDir });
    const wanted = ["c", "a secret", "b"];
    expect(await second.encoder.encode(wanted)).toEqual(vectors(...wanted));
    expect(second.asked).toEqual([]);
    const stored = files(cacheDir);
    expect(stored.length).toBe(3);
    for (const path of stored) {
      expect(path + readFileSync(path, "latin1")).not.toMatch(/secret|sk-test/);
    }
  });

  it("is another one for another model or length", async () => {
    const cacheDir = newFolder();
    await (await setUp([], { cacheDir })).encoder.encode(["a"]);
    const other = await setUp([], { cacheDir, model: "text-embedding-3-small" });
    await other.encoder.encode(["a"]);
    expect(other.asked.length).toBe(1);
    const three: Answer = (_, response) =>
      response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 2, 3] }] }));
    const shorter = await setUp([three], { cacheDir, dimensions: 3 });
    expect(await shorter.encoder.encode(["a"])).toEqual([Float64Array.of(1, 2, 3)]);
  });

  it.each<[string, (path: string) => void]>([
    ["cut short", (path) => truncateSync(path, 9)],
    ["empty", (path) => truncateSync(path, 0)],
    ["flipped in one bit", flip],
    ["something else", (path) => writeFileSync(path, "nonsense of any length")],
  ])("passes over an entry that is %s, and mends it", async (_, spoil) => {
    const cacheDir = newFolder();
    await (await setUp([], { cacheDir })).encoder.encode(["a"]);
    spoil(files(cacheDir)[0]!);
    const { encoder, asked } = await setUp([], { cacheDir });
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(asked.length).toBe(1);
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(asked.length).toBe(1);
  });

  it("keeps what was answered before a failure", async () => {
    const cacheDir = newFolder();
    const many = Array.from({ length: 300 }, (_, i) => `text ${i}`);
    const options = { cacheDir, concurrency: 1 };
    const { encoder } = await setUp([answer, status(400)], options);
    await expect(encoder.encode(many)).rejects.toThrow(/400/);
    const again = await setUp([], options);
    expect(await again.encoder.encode(many)).toEqual(vectors(...many));
    expect(again.texts()).toEqual(many.slice(256));
  });

  it("refuses a folder that cannot be one, before anything is paid for", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const { encoder, asked } = await setUp([], { cacheDir: file });
    await expect(encoder.encode(["a"])).rejects.toThrow(/cannot be written \(EEXIST\)/);
    expect(asked).toEqual([]);
  });
});

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[12]! ^= 1;
  writeFileSync(path, bytes);
}
