import { describe, expect, it } from "vitest";
import { type Answer, answer, KEY, setUp, status, vectorOf, vectors } from "./openai.fixture.ts";
import { openaiEncoder } from "./openai.ts";

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

it("puts shuffled answers in order, and takes decimal numbers too", async () => {
  const shuffled: Answer = ({ input }, response) => {
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse();
    response.end(JSON.stringify({ data }));
  };
  const { encoder } = await setUp([shuffled]);
  expect(await encoder.encode(["a", "b", "c"])).toEqual(vectors("a", "b", "c"));
});
