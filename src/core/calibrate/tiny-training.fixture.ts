import type { Tensor } from "../encoder/transformer/model/safetensors.ts";
import { tinyArchitecture, tinyWeights } from "../encoder/transformer/model/tiny-model.fixture.ts";
import { Random } from "../random/random.ts";
import type { TransformerTraining } from "./fine-tune-transformer.ts";
import { batchesOf, pairsOf } from "./pairs.ts";

export const EPOCHS = 5;

/** Ten steps of a model of one layer on six texts of two categories. */
export const TINY_TRAINING: TransformerTraining = {
  model: {
    path: "tiny",
    architecture: { ...tinyArchitecture("bert"), layers: 1 },
    pooling: "mean",
    weights: startingWeights(1),
  },
  texts: [
    [2, 4, 5, 3],
    [2, 4, 6, 3],
    [2, 5, 3],
    [2, 9, 10, 3],
    [2, 9, 3],
    [2, 11, 10, 12, 3],
  ],
  batches: Array.from({ length: EPOCHS }, (_, epoch) =>
    batchesOf(pairsOf([0, 0, 0, 1, 1, 1], Random.seeded(1)), 6, Random.seeded(1).split(epoch)),
  ).flat(),
  learningRate: 0.01,
  threads: 1,
  groups: 2,
};

/**
 * Initial weights like those of an untrained transformer: small, with LayerNorm as the
 * identity. With larger weights the training collapses.
 */
export function startingWeights(seed: number): Map<string, Tensor> {
  const firstLayer = [...tinyWeights("bert", seed)].filter(([name]) => !name.includes("layer.1"));
  const weights = firstLayer.map(([name, { dims, data }]) => {
    const one = name.endsWith("LayerNorm.weight") ? 1 : name.endsWith(".bias") ? 0 : undefined;
    return [name, { dims, data: data.map((value) => one ?? value / 2) }] as const;
  });
  return new Map(weights);
}
