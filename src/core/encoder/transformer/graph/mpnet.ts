/** MPNet (Song et al. 2020): BERT with a relative position bias and without token types. */
import { attention, feedForward, layerNorm, type Site } from "./blocks.ts";
import type { Value } from "./graph.ts";

/** The vectors of the tokens after the last layer, [N, D]. */
export function mpnet(site: Site): Value {
  const bias = relativeBias(site);
  let x = embeddings(site);
  for (let i = 0; i < site.architecture.layers; i++) {
    const layer = `encoder.layer.${i}`;
    const names = {
      query: `${layer}.attention.attn.q`,
      key: `${layer}.attention.attn.k`,
      value: `${layer}.attention.attn.v`,
      output: `${layer}.attention.attn.o`,
      norm: `${layer}.attention.LayerNorm`,
    };
    x = feedForward(site, attention(site, x, names, bias), layer);
  }
  return x;
}

function embeddings(site: Site): Value {
  const { graph, weight, ids, positions } = site;
  const words = graph.gather(weight("embeddings.word_embeddings.weight"), ids);
  const places = graph.gather(weight("embeddings.position_embeddings.weight"), positions);
  return layerNorm(site, graph.add(words, places), "embeddings.LayerNorm");
}

/** Every layer adds the same learned number for a head and a distance, and the mask. */
function relativeBias({ graph, architecture, groups, weight }: Site): Value[] {
  const { positions, relativeBuckets } = architecture;
  const buckets = graph.constant(bucketMatrix(positions, relativeBuckets));
  const table = weight("encoder.relative_attention_bias.weight");
  return groups.map(({ tokens, mask }) => {
    const bias = graph.gather(table, graph.corner(buckets, [tokens, tokens]));
    const byHead = graph.transpose(bias, [2, 0, 1]);
    const dims = [architecture.heads, 1, tokens, tokens];
    return graph.add(graph.reshape(byHead, dims), mask);
  });
}

function bucketMatrix(length: number, buckets: number) {
  const data = Int32Array.from({ length: length * length }, (_, at) =>
    relativeBucket((at % length) - Math.floor(at / length), buckets),
  );
  return { dims: [length, length], data };
}

/**
 * The bucket of a key that stands `distance` after the query. Half of the
 * buckets is for keys after it, half for the others; of each half, half is for
 * single distances and half for ranges that grow geometrically up to 128.
 */
export function relativeBucket(distance: number, buckets: number): number {
  const half = Math.floor(buckets / 2);
  const single = Math.floor(half / 2);
  const side = distance > 0 ? half : 0;
  const far = Math.abs(distance);
  if (far < single) return side + far;
  // In float32, as it was trained with: at 16, 32 and 64 the quotient is whole.
  const log = Math.fround(Math.log(far / single));
  const share = Math.fround(log / Math.fround(Math.log(FARTHEST / single)));
  return side + Math.min(half - 1, single + Math.floor(Math.fround(share * (half - single))));
}
const FARTHEST = 128;
