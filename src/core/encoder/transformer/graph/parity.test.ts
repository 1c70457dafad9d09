import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeWithShared, shared } from "../../shared.fixture.ts";
import { readArchitecture } from "../model/architecture.ts";
import { readCheckpoint } from "../model/checkpoint.ts";
import { readSafetensors } from "../model/safetensors.ts";
import { gradientOf, stepGraph } from "../training/training-graph.ts";
import { packTexts } from "./batch.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

const NAMES = ["tiny-bert", "tiny-mpnet"];
const folder = (name: string) => `fixtures/${name}`;

interface Case {
  readonly input_ids: number[][];
  readonly attention_mask: number[][];
  readonly pairs: [left: number, right: number, label: number][];
  readonly loss: number;
}

describeWithShared("PyTorch's outputs and gradients", NAMES.map(folder), () => {
  it.each(NAMES)("%s: embeddings within 1e-4", async (name) => {
    const { texts, architecture, weights } = await open(name);
    const { tensors } = await readSafetensors(shared(`${folder(name)}/outputs.safetensors`));
    for (const groups of [1, 3]) {
      const pack = { architecture, pooling: "mean", groups } as const;
      const built = encoderGraph({ ...pack, normalize: true, weights });
      built.graph.output("texts", built.texts);
      const result = await runInOnnxruntime(built.graph, packTexts(texts, pack));
      expect(distance(result.get("texts")!, tensors.get("embeddings")!.data)).toBeLessThan(1e-4);
    }
  });

  it.each(NAMES)("%s: every gradient within 1e-3", async (name) => {
    const { texts, pairs, loss, architecture, weights } = await open(name);
    const { tensors } = await readSafetensors(shared(`${folder(name)}/gradients.safetensors`));
    const pack = { architecture, pooling: "mean", groups: 2 } as const;
    const dims = [pairs.length];
    const feeds = packTexts(texts, pack)
      .set("left", { dims, data: Int32Array.from(pairs, ([left]) => left) })
      .set("right", { dims, data: Int32Array.from(pairs, ([, right]) => right) })
      .set("label", { dims, data: Float32Array.from(pairs, ([, , label]) => label) });
    const result = await runInOnnxruntime(stepGraph(pack), new Map([...feeds, ...weights]));
    expect(Math.abs(result.get("loss")![0]! / loss - 1)).toBeLessThan(1e-5);
    expect(tensors.size).toBe(weights.size);
    for (const [weight, { data }] of tensors) {
      const off = distance(result.get(gradientOf(weight))!, data);
      // A bias on all keys does not change the softmax, so its gradient is 0 except for rounding.
      const zero = /\.(key|k)\.bias$/.test(weight);
      expect(off, weight).toBeLessThan(zero ? 1e-6 : 1e-3 * length(data));
    }
  });
});

async function open(name: string) {
  const path = shared(folder(name));
  const text = readFileSync(`${path}/case.json`, "utf8");
  const { input_ids, attention_mask, ...rest } = JSON.parse(text) as Case;
  const architecture = await readArchitecture(`${path}/config.json`);
  const { weights } = await readCheckpoint(path, architecture);
  const texts = input_ids.map((ids, k) => ids.filter((_, i) => attention_mask[k]![i] === 1));
  return { ...rest, texts, architecture, weights };
}

function distance(a: Float32Array, b: Float32Array): number {
  expect(a).toHaveLength(b.length);
  return length(a.map((value, i) => value - b[i]!));
}

function length(a: Float32Array): number {
  return Math.hypot(...a);
}
