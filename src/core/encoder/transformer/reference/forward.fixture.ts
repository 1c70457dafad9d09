/**
 * BERT and MPNet in plain loops, one text at a time, without padding, groups or
 * batches. Written from the equations of the papers and independent of our graph.
 * Tests compare the graph with it.
 */
import type { Architecture } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";
import type { Tensor } from "../model/safetensors.ts";
import { erf } from "./operators.fixture.ts";

type Row = number[];

/** Returns the embedding of a text, scaled to length 1. */
export function embed(
  ids: readonly number[],
  architecture: Architecture,
  weights: ReadonlyMap<string, Tensor>,
  pooling: Pooling,
): Row {
  const tokens = forward(ids, architecture, weights);
  const columns = tokens[0]!.map((_, i) => tokens.map((token) => token[i]!));
  const pooled = {
    mean: () => columns.map(mean),
    cls: () => tokens[0]!,
    max: () => columns.map((column) => Math.max(...column)),
  }[pooling]();
  const length = Math.hypot(...pooled);
  return pooled.map((value) => value / length);
}

/** Returns the vectors of the tokens after the last layer. */
export function forward(
  ids: readonly number[],
  architecture: Architecture,
  weights: ReadonlyMap<string, Tensor>,
): Row[] {
  const { kind, heads, layers, padTokenId } = architecture;
  const matrices = new Map<string, Row[]>();
  const matrix = (name: string) => {
    const known = matrices.get(name);
    if (known) return known;
    const { dims, data } = weights.get(name)!;
    const [rows, width] = dims as [number, number];
    const made = Array.from({ length: rows }, (_, i) => [
      ...data.subarray(i * width, (i + 1) * width),
    ]);
    matrices.set(name, made);
    return made;
  };
  const row = (name: string, i: number) => matrix(name)[i]!;
  const norm = (x: Row, name: string) => {
    const center = mean(x);
    const spread = Math.sqrt(mean(x.map((v) => (v - center) ** 2)) + architecture.layerNormEps);
    const { data: gamma } = weights.get(`${name}.weight`)!;
    const { data: beta } = weights.get(`${name}.bias`)!;
    return x.map((v, i) => ((v - center) / spread) * gamma[i]! + beta[i]!);
  };
  const linear = (x: Row, name: string) =>
    Array.from(weights.get(`${name}.bias`)!.data, (b, o) => b + dot(row(`${name}.weight`, o), x));

  let seen = 0;
  let tokens = ids.map((id, i) => {
    const position = kind === "bert" ? i : id === padTokenId ? padTokenId : padTokenId + ++seen;
    const parts = [
      row("embeddings.word_embeddings.weight", id),
      row("embeddings.position_embeddings.weight", position),
      ...(kind === "bert" ? [row("embeddings.token_type_embeddings.weight", 0)] : []),
    ];
    return norm(parts.reduce(plus), "embeddings.LayerNorm");
  });
  for (let l = 0; l < layers; l++) {
    const layer = `encoder.layer.${l}`;
    const names = NAMES[kind];
    const [q, k, v] = names.qkv.map((name) => tokens.map((x) => linear(x, `${layer}.${name}`)));
    const size = tokens[0]!.length / heads;
    const mixed = tokens.map((_, i) =>
      Array.from({ length: heads }, (_, h) => {
        const part = (x: Row) => x.slice(h * size, (h + 1) * size);
        const scores = tokens.map((_, j) => {
          const bucket = mpnetBucket(j - i, architecture.relativeBuckets);
          const bias =
            kind === "mpnet" ? row("encoder.relative_attention_bias.weight", bucket)[h]! : 0;
          return dot(part(q![i]!), part(k![j]!)) / Math.sqrt(size) + bias;
        });
        const powers = scores.map(Math.exp);
        const sum = powers.reduce((a, b) => a + b);
        return v!.map((x, j) => part(x).map((value) => (value * powers[j]!) / sum)).reduce(plus);
      }).flat(),
    );
    tokens = tokens.map((x, i) => {
      const attended = plus(x, linear(mixed[i]!, `${layer}.${names.output}`));
      const y = norm(attended, `${layer}.${names.norm}`);
      const inner = linear(y, `${layer}.intermediate.dense`);
      const gelu = inner.map((value) => (value * (1 + erf(value / Math.SQRT2))) / 2);
      return norm(plus(y, linear(gelu, `${layer}.output.dense`)), `${layer}.output.LayerNorm`);
    });
  }
  return tokens;
}

const NAMES = {
  bert: {
    qkv: ["attention.self.query", "attention.self.key", "attention.self.value"],
    output: "attention.output.dense",
    norm: "attention.output.LayerNorm",
  },
  mpnet: {
    qkv: ["attention.attn.q", "attention.attn.k", "attention.attn.v"],
    output: "attention.attn.o",
    norm: "attention.LayerNorm",
  },
};

/** From a distance of 8 on, buckets are half octaves: 2 log2(distance / 8). Only for 32 buckets. */
function mpnetBucket(distance: number, buckets: number): number {
  if (buckets === 0) return 0;
  const far = Math.abs(distance);
  const bucket = far < 8 ? far : Math.min(15, 8 + Math.floor(2 * Math.log2(far / 8)));
  return distance > 0 ? 16 + bucket : bucket;
}

function plus(a: Row, b: Row): Row {
  return a.map((value, i) => value + b[i]!);
}

function dot(a: Row, b: Row): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

function mean(x: Row): number {
  return x.reduce((a, b) => a + b, 0) / x.length;
}
