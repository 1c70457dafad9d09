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

/** Applies all layers to the token embeddings x, [N, D]. `bias` of each group is added to its attention scores. */
export function layers(site: Site, x: Value, bias: readonly Value[]): Value {
  let y = x;
  for (let i = 0; i < site.architecture.layers; i++) {
    const layer = `encoder.layer.${i}`;
    y = feedForward(site, attention(site, y, layer, bias), layer);
  }
  return y;
}

export function layerNorm({ graph, architecture, weight }: Site, x: Value, name: string): Value {
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
