import { readFileSync } from "node:fs";
import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { expect, it } from "vitest";
import { describeWithShared, shared } from "../encoder/shared.fixture.ts";
import { packTexts } from "../encoder/transformer/graph/batch.ts";
import { encoderGraph } from "../encoder/transformer/graph/encoder-graph.ts";
import { onnxBytes } from "../encoder/transformer/graph/onnx.ts";
import { type ModelFolder, readModelFolder } from "../encoder/transformer/model/model-folder.ts";
import type { Tensor } from "../encoder/transformer/model/safetensors.ts";
import { fineTuneTransformer } from "./fine-tune-transformer.ts";

const MINILM = "models/all-MiniLM-L6-v2";

interface Trajectory {
  readonly settings: { readonly lr: number };
  readonly batches: [a: number, b: number, label: 0 | 1][][];
  readonly steps: { readonly loss: number; readonly lr: number }[];
}

describeWithShared(
  "PyTorch's CCFT of MiniLM, the same 36 batches",
  [MINILM, "fixtures/ccft"],
  () => {
    it("has the golden losses within 1% and the golden embeddings with a cosine of 0.999", {
      timeout: 900_000,
    }, async () => {
      const model = await readModelFolder(shared(MINILM));
      const offline = lines<{ query: string }>("fixtures/ccft/offline.jsonl").map(({ query }) =>
        model.tokenizer.encode(query, model.maxLength),
      );
      const trajectory = JSON.parse(text("fixtures/ccft/trajectory.json")) as Trajectory;
      const { losses, weights } = await fineTuneTransformer({
        model,
        texts: offline,
        batches: trajectory.batches.map((batch) => batch.map(([a, b, label]) => ({ a, b, label }))),
        learningRate: trajectory.settings.lr,
      });
      expect(losses).toHaveLength(36);
      for (const [step, { loss }] of trajectory.steps.entries()) {
        expect(Math.abs(losses[step]! / loss - 1), `step ${step}`).toBeLessThan(0.01);
      }
      const given = lines<{ ids: number[] }>("fixtures/minilm/texts.jsonl").map(({ ids }) => ids);
      for (const [texts, golden] of [
        [given, "fixtures/ccft/embeddings-after.f32"],
        [offline, "fixtures/ccft/offline-after.f32"],
      ] as const) {
        expect(Math.min(...(await cosines(model, weights, texts, golden)))).toBeGreaterThan(0.999);
      }
    });
  },
);

/** Cosines between the embeddings and the golden ones; both have length 1. */
async function cosines(
  { architecture, pooling }: ModelFolder,
  weights: ReadonlyMap<string, Tensor>,
  texts: readonly ArrayLike<number>[],
  golden: string,
): Promise<number[]> {
  const pack = { architecture, pooling, groups: 8 };
  const built = encoderGraph({ ...pack, normalize: true, weights });
  built.graph.output("texts", built.texts);
  const session = await InferenceSession.create(onnxBytes(built.graph));
  const feeds = [...packTexts(texts, pack)].map(([name, { dims, data }]) => {
    const type = data instanceof Float32Array ? "float32" : "int32";
    return [name, new OrtTensor(type, data, dims)];
  });
  const result = await session.run(Object.fromEntries(feeds));
  await session.release();
  const got = result.texts!.data as Float32Array;
  const bytes = readFileSync(shared(golden));
  const expected = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  expect(got).toHaveLength(expected.length);
  const width = architecture.hiddenSize;
  return texts.map((_, k) => {
    const row = (all: Float32Array) => all.subarray(k * width, (k + 1) * width);
    return row(got).reduce((sum, value, i) => sum + value * row(expected)[i]!, 0);
  });
}

function text(name: string): string {
  return readFileSync(shared(name), "utf8");
}

function lines<T>(name: string): T[] {
  return text(name)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
