import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { ADAMW, AdamW, decays, globalNorm } from "./adamw.ts";

const random = Random.seeded(2);
const normals = (n: number) => Float32Array.from({ length: n }, () => random.normal());
const tensors = (parts: Record<string, Float32Array>) =>
  new Map(Object.entries(parts).map(([name, data]) => [name, { dims: [data.length], data }]));

describe("AdamW", () => {
  it("matches the textbook formula over several steps", () => {
    const start = normals(5);
    const weights = tensors({ "dense.weight": start.slice() });
    const optimizer = new AdamW(weights);
    let [w, m, v] = [[...start], Array<number>(5).fill(0), Array<number>(5).fill(0)];
    for (let step = 1; step <= 4; step++) {
      const gradient = normals(5).map((value) => value * 0.1); // below the clipping norm
      const rate = 0.01 * step;
      const gradients = tensors({ "dense.weight": gradient });
      optimizer.update(gradients, globalNorm(gradients), step, rate);
      m = m.map((mean, i) => 0.9 * mean + 0.1 * gradient[i]!);
      v = v.map((square, i) => 0.999 * square + 0.001 * gradient[i]! ** 2);
      w = w.map((weight, i) => {
        const mean = m[i]! / (1 - 0.9 ** step);
        const square = v[i]! / (1 - 0.999 ** step);
        return weight * (1 - rate * 0.01) - (rate * mean) / (Math.sqrt(square) + 1e-8);
      });
    }
    for (const [i, weight] of w.entries()) {
      expect(weights.get("dense.weight")!.data[i]).toBeCloseTo(weight, 6);
    }
  });

  it("scales all gradients if their global norm is too large, and only then", () => {
    const gradient = Float32Array.of(3, 4);
    const update = (scale: number) => {
      const weights = tensors({ w: Float32Array.of(1, 1), b: Float32Array.of(1) });
      const optimizer = new AdamW(weights);
      const b = Float32Array.of(0);
      const gradients = tensors({ w: gradient.map((g) => g * scale), b });
      optimizer.update(gradients, globalNorm(gradients), 1, 0.1);
      return [...optimizer.means.get("w")!.data];
    };
    const close = (a: number[], b: number[]) => {
      for (const [i, value] of a.entries()) expect(value).toBeCloseTo(b[i]!, 6);
    };
    close(update(1), update(0.2)); // norms 5 and 1
    close(
      update(0.1),
      update(0.2).map((mean) => mean / 2),
    ); // norm 0.5 is not clipped
  });

  it("does not decay biases and LayerNorm", () => {
    const names = [
      "encoder.layer.0.output.dense.bias",
      "embeddings.LayerNorm.weight",
      "encoder.relative_attention_bias.weight",
      "encoder.layer.0.output.dense.weight",
      "embeddings.word_embeddings.weight",
    ];
    expect(names.map(decays)).toEqual([false, false, false, true, true]);
    const weights = new Map(names.map((name) => [name, { dims: [1], data: Float32Array.of(1) }]));
    const gradients = new Map(
      names.map((name) => [name, { dims: [1], data: new Float32Array(1) }]),
    );
    new AdamW(weights).update(gradients, 0, 1, 0.5);
    const after = names.map((name) => weights.get(name)!.data[0]);
    const decayed = Math.fround(1 - 0.5 * ADAMW.weightDecay);
    expect(after).toEqual([1, 1, 1, decayed, decayed]);
  });
});

describe("globalNorm", () => {
  it("is the norm of all gradients as one vector", () => {
    expect(globalNorm(tensors({ a: Float32Array.of(1, 2, 2, 4, 8), b: Float32Array.of(10) }))).toBe(
      Math.sqrt(1 + 4 + 4 + 16 + 64 + 100),
    );
  });
});
