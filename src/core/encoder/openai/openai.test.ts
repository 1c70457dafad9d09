import { describe, expect, it } from "vitest";
import { type Handler, KEY, respond, setUp, status, vectorOf, vectors } from "./openai.fixture.ts";
import { openaiEncoder } from "./openai.ts";

it("requests each text once and keeps the order of the texts", async () => {
  const { encoder, requests } = await setUp();
  expect(await encoder.encode(["b", "a", "b"])).toEqual(vectors("b", "a", "b"));
  expect(requests).toEqual([
    {
      model: "text-embedding-3-large",
      input: ["b", "a"],
      dimensions: 4,
      encoding_format: "base64",
    },
  ]);
  expect(await encoder.encode([])).toEqual([]);
  expect(requests.length).toBe(1);
});

it("uses the paper's name for its model, and requests a length only if it is not the model's default", async () => {
  const plain = { apiKey: KEY };
  expect(openaiEncoder(plain)).toMatchObject({ name: "OpenAItext", dimension: 3072 });
  const small = openaiEncoder({ ...plain, model: "text-embedding-3-small" });
  expect(small).toMatchObject({ name: "text-embedding-3-small", dimension: 1536 });
  const { encoder, requests } = await setUp([], { model: "bge-small" });
  await encoder.encode(["a"]);
  expect(requests[0]).not.toHaveProperty("dimensions");
});

it("sends the key if there is one", async () => {
  const seen: (string | undefined)[] = [];
  const record: Handler = (body, response, request) => {
    seen.push(request.headers.authorization);
    respond(body, response, request);
  };
  await (await setUp([record])).encoder.encode(["a"]);
  await (await setUp([record], { apiKey: undefined })).encoder.encode(["a"]);
  expect(seen).toEqual([`Bearer ${KEY}`, undefined]);
});

describe("batches", () => {
  it("hold at most 256 texts", async () => {
    const { encoder, requests } = await setUp();
    const many = Array.from({ length: 600 }, (_, i) => `text ${i}`);
    expect(await encoder.encode(many)).toEqual(vectors(...many));
    expect(requests.map(({ input }) => input.length).toSorted((a, b) => a - b)).toEqual([
      88, 256, 256,
    ]);
  });

  it("hold fewer texts if they are long", async () => {
    const { encoder, requests } = await setUp();
    const long = Array.from({ length: 40 }, (_, i) => `${i} `.padEnd(20_000, "word "));
    expect(await encoder.encode(long)).toEqual(vectors(...long));
    for (const { input } of requests) expect(input.join("").length).toBeLessThanOrEqual(200_000);
  });

  it("are sent three at a time if configured so", async () => {
    let open = 0;
    let most = 0;
    const third = Promise.withResolvers<void>();
    const hold: Handler = async (body, response, request) => {
      most = Math.max(most, ++open);
      // Leaves time for a fourth request, which must not arrive.
      if (open === 3) setTimeout(third.resolve, 20);
      await third.promise;
      open--;
      respond(body, response, request);
    };
    const many = Array.from({ length: 2600 }, (_, i) => `text ${i}`);
    const { encoder } = await setUp(new Array<Handler>(20).fill(hold), { concurrency: 3 });
    await encoder.encode(many);
    expect(most).toBe(3);
  });
});

describe("texts that the server would reject", () => {
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

  /** A server that counts each byte as a token and accepts 1,000 tokens per text. */
  const strict: Handler = (body, response, request) => {
    const limit = "This model's maximum context length is 1000 tokens, however you requested more.";
    const fits = body.input.every((text) => text.length <= 1000);
    (fits ? respond : status(400, limit))(body, response, request);
  };

  it("are cut until they fit, independently of their batch", async () => {
    const short = ["a", "b", "c", "d", "e"];
    const long = "x".repeat(5000);
    const { encoder } = await setUp(new Array<Handler>(50).fill(strict));
    const [alone] = await encoder.encode([long]);
    expect(alone).toEqual(vectors("x".repeat(625))[0]);
    const mixed = await encoder.encode([...short, long]);
    expect(mixed).toEqual([...vectors(...short), alone]);
  });

  it("are reported if no length is accepted", async () => {
    const never = new Array<Handler>(50).fill(status(400, "input is too long"));
    const { encoder } = await setUp(never);
    await expect(encoder.encode(["x".repeat(500)])).rejects.toThrow(
      /rejected the request \(400: input is too long\)/,
    );
  });
});

it("sorts shuffled responses, and accepts decimal numbers", async () => {
  const shuffled: Handler = ({ input }, response) => {
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse();
    response.end(JSON.stringify({ data }));
  };
  const { encoder } = await setUp([shuffled]);
  expect(await encoder.encode(["a", "b", "c"])).toEqual(vectors("a", "b", "c"));
});
