/**
 * The layers of BERT and MPNet. The tokens of all texts of a batch are the rows of
 * one matrix [N, D], so that a dense layer is one product. Only attention works
 * group by group; a group is a set of texts that are padded to the same length.
 */
import { type Architecture, ATTENTION_NAMES } from "../model/architecture.ts";
import type { Dim, Graph, Value } from "./graph.ts";

/** The graph under construction and its inputs. */
export interface Site {
  readonly graph: Graph;
  readonly architecture: Architecture;
  /** Row of each token in the table of words. [N] */
  readonly ids: Value;
  /** Row of each token in the table of positions. [N] */
  readonly positions: Value;
  readonly groups: readonly Group[];
  /** Returns a weight of the checkpoint. */
  readonly weight: (name: string) => Value;
  /** x W^T + b, with W = `name`.weight [out, in] and b = `name`.bias [out]. */
  readonly dense: (x: Value, name: string) => Value;
}

/** Texts padded to the same length. Their tokens are `rows` consecutive rows of [N, D]. */
export interface Group {
  /** Names of dimensions, where rows = texts * tokens. */
  readonly texts: string;
  readonly tokens: string;
  readonly rows: string;
  /** Added to the attention scores: 0 for a token of the text and -1e9 for padding. [1, texts, 1, tokens] */
  readonly mask: Value;
}

/**
 * Returns the vectors of the tokens after the last layer, [N, D], of BERT (Devlin et al.
 * 2019), as in MiniLM and e5, or of MPNet (Song et al. 2020): BERT with a relative
 * position bias and without token types. Weights have the names of Hugging Face's checkpoints.
 */
export function tokenVectors(site: Site): Value {
  const { kind, layers } = site.architecture;
  const bias = kind === "bert" ? site.groups.map(({ mask }) => mask) : relativeBias(site);
  let x = embeddings(site);
  for (let i = 0; i < layers; i++) {
    const layer = `encoder.layer.${i}`;
    x = feedForward(site, attention(site, x, layer, bias), layer);
  }
  return x;
}

/** Word + position, and in BERT + token type, which is 0 for single texts. */
function embeddings(site: Site): Value {
  const { graph, weight, ids, positions } = site;
  const words = graph.gather(weight("embeddings.word_embeddings.weight"), ids);
  const places = graph.gather(weight("embeddings.position_embeddings.weight"), positions);
  let sum = graph.add(words, places);
  if (site.architecture.kind === "bert") {
    const first = graph.constant({ dims: [1], data: Int32Array.of(0) });
    sum = graph.add(sum, graph.gather(weight("embeddings.token_type_embeddings.weight"), first));
  }
  return layerNorm(site, sum, "embeddings.LayerNorm");
}

function layerNorm({ graph, architecture, weight }: Site, x: Value, name: string): Value {
  const { layerNormEps } = architecture;
  return graph.layerNorm(x, weight(`${name}.weight`), weight(`${name}.bias`), layerNormEps)[0];
}

/** LayerNorm(x + W2 gelu(W1 x)) */
function feedForward(site: Site, x: Value, layer: string): Value {
  const inner = site.graph.gelu(site.dense(x, `${layer}.intermediate.dense`));
  const out = site.dense(inner, `${layer}.output.dense`);
  return layerNorm(site, site.graph.add(x, out), `${layer}.output.LayerNorm`);
}

/** LayerNorm(x + W Attention(x)) */
function attention(site: Site, x: Value, layer: string, bias: readonly Value[]): Value {
  const names = ATTENTION_NAMES[site.architecture.kind];
  const [queries, keys, values] = [names.query, names.key, names.value].map((name) =>
    splitHeads(site, site.dense(x, `${layer}.attention.${name}`)),
  );
  const mixed = site.groups.map((group, g) => {
    const weights = attentionWeights(site, queries![g]!, keys![g]!, bias[g]!);
    const { heads, size } = headsOf(site);
    return site.graph.reshape(site.graph.matmul(weights, values![g]!), [heads, group.rows, size]);
  });
  const joined = joinHeads(site, mixed, x.dims[0]!);
  const out = site.dense(joined, `${layer}.attention.${names.output}`);
  return layerNorm(site, site.graph.add(x, out), `${layer}.attention.${names.norm}`);
}

/** softmax(Q K^T / sqrt(size) + bias), [heads, texts, tokens, tokens] */
function attentionWeights(site: Site, query: Value, key: Value, bias: Value): Value {
  const alpha = 1 / Math.sqrt(headsOf(site).size);
  const scores = site.graph.matmul(query, key, { transB: true, alpha });
  return site.graph.softmax(site.graph.add(scores, bias));
}

/**
 * [N, D] to [heads, texts, tokens, size] of each group. Heads are moved to the
 * front before the groups are split, which takes one transposition for all groups.
 */
function splitHeads({ graph, groups, ...site }: Site, x: Value): Value[] {
  const { heads, size } = headsOf(site);
  const byHead = graph.transpose(graph.reshape(x, [x.dims[0]!, heads, size]), [1, 0, 2]);
  const rows = groups.map((group) => group.rows);
  const parts = graph.split(byHead, 1, rows);
  return groups.map(({ texts, tokens }, g) =>
    graph.reshape(parts[g]!, [heads, texts, tokens, size]),
  );
}

/** [heads, rows, size] of each group to [N, D] */
function joinHeads({ graph, architecture }: Site, parts: readonly Value[], N: Dim): Value {
  const whole = graph.concat(parts, 1, N);
  return graph.reshape(graph.transpose(whole, [1, 0, 2]), [N, architecture.hiddenSize]);
}

function headsOf({ architecture }: Pick<Site, "architecture">) {
  const { heads, hiddenSize } = architecture;
  return { heads, size: hiddenSize / heads };
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
  // Each result is rounded to float32 as in training, because the quotient is an integer at 16, 32
  // and 64.
  const log = Math.fround(Math.log(far / single));
  const share = Math.fround(log / Math.fround(Math.log(FARTHEST / single)));
  return side + Math.min(half - 1, single + Math.floor(Math.fround(share * (half - single))));
}
const FARTHEST = 128;
