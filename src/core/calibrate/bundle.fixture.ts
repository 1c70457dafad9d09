import { textChecksum } from "./bundle.ts";
import type { BundleContents } from "./write-bundle.ts";

/** Two categories, three models, vectors of two numbers; the encoder is found by name. */
export const CONTENTS: BundleContents = {
  schema: 1,
  name: "hash_E0_Excel_perf_cost_ctrl",
  version: "0.1.0",
  encoder: { kind: "hash", name: "hash", dimension: 2, identity: "0".repeat(64), own: false },
  settings: {
    weighting: "excel_perf_cost",
    tau: 3,
    lambda: 0.05,
    temperature: 1,
    epochs: 0,
    batch: 16,
    learningRate: 0,
    seed: 1,
  },
  sources: { data: { file: "queries.jsonl", sha256: "1".repeat(64) } },
  categories: [
    { name: "x", xi: Float64Array.of(1, 0) },
    { name: "y", xi: Float64Array.of(0.1, -1 / 3) },
  ],
  models: ["a", "b", "c"].map((name, k) => ({
    name,
    embedding: Float64Array.of(k, 1 / 7),
    scores: Float64Array.of(0.9, k / 10),
    costs: Float64Array.of(k, 2),
  })),
  offline: [
    { id: "q1", sha256: textChecksum("one"), category: 0 },
    { id: "q2", sha256: textChecksum("two"), category: 1 },
  ],
  measured: { pairs: 0, losses: [], heldOut: 3, before: 2 / 3, after: 2 / 3 },
};
