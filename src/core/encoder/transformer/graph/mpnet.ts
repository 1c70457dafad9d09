/** MPNet (Song et al. 2020): BERT with a relative position bias and without token types. */
import { layerNorm, layers, type Site } from "./blocks.ts";
import type { Value } from "./graph.ts";

/** Returns the vectors of the tokens after the last layer, [N, D]. */
export function mpnet(site: Site): Value {
  const bias = relativeBias(site);
  return layers(site, embeddings(site), bias);
}

function embeddings(site: Site): Value {
  const { graph, weight, ids, positions } = site;
  const words = graph.gather(weight("embeddings.word_embeddings.weight"), ids);
  const places = graph.gather(weight("embeddings.position_embeddings.weight"), positions);
  return layerNorm(site, graph.add(words, places), "embeddings.LayerNorm");
}

/** The mask plus a learned number per head and distance, which is the same in every layer. */
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
 * Returns the bucket of a key that is `distance` tokens after the query. One half
 * of the buckets is for keys after the query, the other for keys before it. Half
 * of each is for single distances, and half for ranges that grow geometrically up
 * to 128.
 */
export function relativeBucket(distance: number, buckets: number): number {
  const half = Math.floor(buckets / 2);
  const single = Math.floor(half / 2);
  const side = distance > 0 ? half : 0;
  const far = Math.abs(distance);
  if (far < single) return side + far;
  // In float32 as in training, because the quotient is an integer at 16, 32 and 64.
  const log = Math.fround(Math.log(far / single));
  const share = Math.fround(log / Math.fround(Math.log(FARTHEST / single)));
  return side + Math.min(half - 1, single + Math.floor(Math.fround(share * (half - single))));
}
const FARTHEST = 128;
