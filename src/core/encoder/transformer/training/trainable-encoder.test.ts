import { describe, expect, it } from "vitest";
import { Random } from "../../../random/random.ts";
import type { Tensor } from "../model/safetensors.ts";
import { tinyArchitecture, tinyWeights } from "../model/tiny-model.fixture.ts";
import { embed } from "../reference/forward.fixture.ts";
import {
  type LabelledPair,
  TrainableEncoder,
  type TrainableEncoderOptions,
} from "./trainable-encoder.ts";
import { stepGraph } from "./training-graph.ts";

const WORDS = "embeddings.word_embeddings.weight";
const KINDS = ["bert", "mpnet"] as const;
const TEXTS = [
  [2, 5, 9, 3],
  [2, 7, 3],
  [2, 5, 5, 11, 6, 8, 12, 9, 4, 4, 13, 10, 7, 5, 8, 3],
  [2, 13, 3],
  [2, 4, 10, 3],
];
/** Text 0 is in three pairs, text 4 in none. */
const PAIRS = [
  { a: 0, b: 2, label: 1 },
  { a: 1, b: 3, label: 0 },
  { a: 3, b: 0, label: 1 },
  { a: 0, b: 1, label: 0 },
];

describe.each(KINDS)("%s", (kind) => {
  const architecture = tinyArchitecture(kind);
  const weights = tinyWeights(kind);
  const model = { architecture, pooling: "mean", weights } as const;

  it("has the loss of the plain forward pass", async () => {
    const { loss } = await gradientsOf();
    expect(loss).toBeCloseTo(plainLoss(weights), 5);
  });

  it("has the gradient of finite differences in every weight", async () => {
    const { gradients } = await gradientsOf();
    const random = Random.seeded(5);
    for (const [name, { dims, data }] of gradients) {
      if (name === WORDS) continue;
      const i = random.integer(data.length);
      expect(data[i], `${name} [${dims}] at ${i}`).toBeCloseTo(slope(name, i), 3);
    }
  });

  it("has gradients of the words that occur, in the order of their ids", async () => {
    const { gradients } = await gradientsOf();
    const words = [...new Set(TEXTS.flat())].sort((a, b) => a - b);
    const { dims, data } = gradients.get(WORDS)!;
    const width = architecture.hiddenSize;
    expect(dims).toEqual([words.length, width]);
    for (const [row, word] of words.entries()) {
      const expected = slope(WORDS, word * width + 3);
      expect(data[row * width + 3], `word ${word}`).toBeCloseTo(expected, 3);
    }
  });

  it("gives the same result in parts, if there is little memory", async () => {
    const whole = await gradientsOf();
    const textByText = await gradientsOf({ memory: 1, groups: 6 });
    const twoShortOnesTogether = await gradientsOf({ memory: 16_000 });
    for (const { loss, gradients } of [textByText, twoShortOnesTogether]) {
      expect(loss).toBeCloseTo(whole.loss, 6);
      for (const [name, { data }] of gradients) {
        for (const [i, value] of data.entries()) {
          expect(value).toBeCloseTo(whole.gradients.get(name)!.data[i]!, 5);
        }
      }
    }
  });

  it("does not train the padding token, even if a text contains it", async () => {
    const { padTokenId, hiddenSize } = architecture;
    const texts = [[padTokenId, 5, padTokenId, 6], [7], [8, 9], [10]];
    const encoder = new TrainableEncoder(model, texts, { threads: 1, groups: 3 });
    await encoder.loss(PAIRS.map(({ label }, i) => ({ a: i, b: (i + 1) % 4, label })));
    await encoder.release();
    const row = encoder.gradients.get(WORDS)!.data.subarray(0, 2 * hiddenSize);
    expect(row.subarray(0, hiddenSize).every((value) => value === 0)).toBe(true);
    expect(row.subarray(hiddenSize).every((value) => value === 0)).toBe(false);
  });

  it("returns all words: trained if they occur, otherwise decayed", async () => {
    const encoder = new TrainableEncoder(model, TEXTS, { threads: 1, groups: 3 });
    for (const { data } of encoder.weights.values()) data.fill(7);
    const finished = encoder.finished(0.5);
    expect([...finished.keys()].sort()).toEqual([...weights.keys()].sort());
    const before = weights.get(WORDS)!;
    const after = finished.get(WORDS)!;
    expect(after.dims).toEqual(before.dims);
    const occurs = new Set(TEXTS.flat());
    for (const [i, value] of after.data.entries()) {
      const word = Math.floor(i / architecture.hiddenSize);
      expect(value).toBe(occurs.has(word) ? 7 : before.data[i]! * 0.5);
    }
    expect(before.data.includes(7)).toBe(false); // the given weights are unchanged
  });

  async function gradientsOf(options: TrainableEncoderOptions = {}) {
    const encoder = new TrainableEncoder(model, TEXTS, { threads: 1, groups: 3, ...options });
    const loss = await encoder.loss(PAIRS);
    await encoder.release();
    return { loss, gradients: encoder.gradients };
  }

  function plainLoss(weights: ReadonlyMap<string, Tensor>): number {
    const x = TEXTS.map((ids) => embed(ids, architecture, weights, "mean"));
    const cosine = ({ a, b }: LabelledPair) => x[a]!.reduce((sum, v, i) => sum + v * x[b]![i]!, 0);
    return PAIRS.reduce((sum, pair) => sum + (cosine(pair) - pair.label) ** 2, 0) / PAIRS.length;
  }

  /** The slope by finite differences. Steps of 2^-9 are exact for float32 weights near 1. */
  function slope(name: string, i: number): number {
    const { dims, data } = weights.get(name)!;
    const at = (step: number) => {
      const moved = { dims, data: data.with(i, data[i]! + step) };
      return { value: moved.data[i]!, loss: plainLoss(new Map([...weights, [name, moved]])) };
    };
    const [above, below] = [at(2 ** -9), at(-(2 ** -9))];
    return (above.loss - below.loss) / (above.value - below.value);
  }
});

describe("the graph of a step", () => {
  it("keeps no results of Gelu or LayerNormalization for the backward pass", () => {
    const architecture = tinyArchitecture("bert");
    const { nodes, outputs } = stepGraph({ architecture, pooling: "mean", groups: 2 });
    const end = nodes.findIndex((node) => node.outputs.includes(outputs.get("loss")!));
    const kept = new Set(nodes.slice(end + 1).flatMap((node) => node.inputs));
    const ops = nodes
      .slice(0, end)
      .flatMap((node) => (kept.has(node.outputs[0]!) ? [node.op] : []));
    expect(ops).toContain("Softmax");
    expect(ops).not.toContain("Gelu");
    expect(ops).not.toContain("LayerNormalization");
  });
});
