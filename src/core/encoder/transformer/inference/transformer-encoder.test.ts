import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { InputError } from "../../../input/input-error.ts";
import { dot, norm } from "../../../linalg/linalg.ts";
import { ThreadEnded } from "../../../threads/thread.ts";
import { readModelFolder } from "../model/model-folder.ts";
import { temporaryModels, tinyModel } from "../model/tiny-model.fixture.ts";
import { embed } from "../reference/forward.fixture.ts";
import { InferencePool } from "./inference-pool.ts";
import { InferenceThread } from "./inference-thread.ts";
import {
  openTransformer,
  TransformerEncoder,
  type TransformerOptions,
} from "./transformer-encoder.ts";

const writeModel = temporaryModels();

/** Opens an encoder before the tests of a block and closes it after them. */
function opened(folder: string, options: TransformerOptions = {}): () => TransformerEncoder {
  let encoder: TransformerEncoder;
  beforeAll(async () => {
    encoder = await openTransformer(folder, { threads: 1, ...options });
  }, SLOW_START);
  afterAll(() => encoder.close());
  return () => encoder;
}
const SLOW_START = 60_000; // milliseconds to start a thread on a busy machine

/** Long and short texts, a repeated one, and an empty one. */
const TEXTS = [
  "the cat sat on a mat. the cat sat on the mats.",
  "cats",
  "the cat sat on the mat?",
  "",
  "cats",
  "a mat sat on the cat",
  "the the the",
];

describe.each(["bert", "mpnet"] as const)("%s", (kind) => {
  const folder = writeModel(tinyModel(kind));
  const float = opened(folder, { cacheSize: 0 });
  const int8 = opened(folder, { cacheSize: 0, int8: true });

  it("agrees with plain loops, in the order of the texts", async () => {
    const { tokenizer, maxLength, architecture, weights } = await readModelFolder(folder);
    const vectors = await float().encode(TEXTS);
    expect(vectors).toHaveLength(TEXTS.length);
    for (const [k, text] of TEXTS.entries()) {
      const expected = embed([...tokenizer.encode(text, maxLength)], architecture, weights, "mean");
      expect(vectors[k]).toHaveLength(float().dimension);
      for (const [i, value] of expected.entries()) expect(vectors[k]![i]).toBeCloseTo(value, 5);
    }
  });

  it.each([float, int8])("a text's batch changes only rounding errors", async (encoder) => {
    const together = await encoder().encode(TEXTS);
    for (const [k, text] of TEXTS.entries()) {
      const [alone] = await encoder().encode([text]);
      expect(distance(alone!, together[k]!)).toBeLessThan(1e-6);
    }
  });

  it("8 bits are close to float32", async () => {
    const exact = await float().encode(TEXTS);
    const rough = await int8().encode(TEXTS);
    for (const [k, x] of exact.entries()) {
      expect(dot(x, rough[k]!)).toBeGreaterThan(0.99);
      expect(rough[k]).not.toEqual(x);
    }
  });

  it("concurrent callers each get their own results", async () => {
    const alone = await Promise.all(TEXTS.map((text) => float().encode([text])));
    const next = (k: number) => (k + 1) % TEXTS.length;
    const pairs = await Promise.all(
      TEXTS.map((text, k) => float().encode([text, TEXTS[next(k)]!])),
    );
    for (const [k, [first, second]] of pairs.entries()) {
      expect(distance(first!, alone[k]![0]!)).toBeLessThan(1e-6);
      expect(distance(second!, alone[next(k)]![0]!)).toBeLessThan(1e-6);
    }
  });
});

function distance(a: Float64Array, b: Float64Array): number {
  return norm(a.map((value, i) => value - b[i]!));
}

describe("serving", () => {
  const encoder = opened(writeModel(tinyModel("bert"), "tiny"));

  it("has the folder's name and the model's dimension", () => {
    expect(encoder()).toMatchObject({ name: "tiny", dimension: 8 });
  });

  it("a caller that changes a result does not affect others", async () => {
    const [first, twin] = await encoder().encode(["cats", "cats"]);
    first!.fill(7);
    const [again] = await encoder().encode(["cats"]);
    expect(again).toEqual(twin);
    expect(norm(again!)).toBeCloseTo(1, 6);
  });

  it("returns no embeddings for no texts", async () => {
    expect(await encoder().encode([])).toEqual([]);
  });

  it("names the damaged file", async () => {
    const broken = writeModel({ ...tinyModel("bert"), "config.json": "{" });
    const error = await openTransformer(broken).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ file: expect.stringContaining("config.json") });
  });

  it("close() rejects waiting and later calls", async () => {
    const waiting = encoder().encode(["the cat"]);
    await Promise.all([expect(waiting).rejects.toThrow("closed"), encoder().close()]);
    await expect(encoder().encode(["cats"])).rejects.toThrow("closed");
  });
});

describe("with a stub thread", () => {
  const file = new URL("./stub.worker.fixture.ts", import.meta.url);
  const start = (cacheSize: number) => {
    const worker = new InferenceThread({ folder: "stub", int8: false, threads: 1 }, file);
    const encoder = new TransformerEncoder("stub", 2, new InferencePool([worker]), cacheSize);
    onTestFinished(() => encoder.close());
    return encoder;
  };

  it("encodes a repeated text only once", async () => {
    const encoder = start(1e6);
    await encoder.encode(["four", "a", "four"]);
    const vectors = await encoder.encode(["four", "seven", "a"]);
    const [first, second] = [1, 2]; // jobs
    expect(vectors.map((vector) => [...vector])).toEqual([
      [4, first],
      [5, second],
      [1, first],
    ]);
  });

  it("keeps the cache within its size", async () => {
    const encoder = start(0);
    await encoder.encode(["four"]);
    expect(await encoder.encode(["four"])).toEqual([Float64Array.of(4, 2)]);
  });

  it("a crash rejects running and queued calls, and the next call succeeds", async () => {
    const encoder = start(0);
    await encoder.encode(["warm"]);
    const first = encoder.encode(["exit"]);
    await undefined;
    await undefined;
    const queued = encoder.encode(["a"]);
    for (const call of [first, queued]) await expect(call).rejects.toThrow(ThreadEnded);
    expect(await encoder.encode(["four"])).toEqual([Float64Array.of(4, 1)]);
  });
});
