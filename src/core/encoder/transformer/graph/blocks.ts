/**
 * What BERT and MPNet are made of. The tokens of all texts of a batch are the
 * rows of one matrix [N, D], so that a dense layer is one product; only
 * attention goes group by group, a group being texts padded to one length.
 */
import type { Architecture } from "../model/architecture.ts";
import type { Dim, Graph, Value } from "./graph.ts";

/** Where blocks are built. */
export interface Site {
  readonly graph: Graph;
  readonly architecture: Architecture;
  /** Of each token: its row in the table of words, and in that of positions. [N] */
  readonly ids: Value;
  readonly positions: Value;
  readonly groups: readonly Group[];
  /** A weight of the checkpoint. */
  readonly weight: (name: string) => Value;
  /** x W^T + b, with W = `name`.weight [out, in] and b = `name`.bias [out]. */
  readonly dense: (x: Value, name: string) => Value;
}

/** Texts padded to one length; their tokens are `rows` rows of [N, D], one group after the other. */
export interface Group {
  /** Names of dimensions; rows = texts * tokens. */
  readonly texts: string;
  readonly tokens: string;
  readonly rows: string;
  /** Added to the scores of keys: 0, or -1e9 where the key is padding. [1, texts, 1, tokens] */
  readonly mask: Value;
}

export interface AttentionNames {
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly output: string;
  readonly norm: string;
}

export function layerNorm({ graph, architecture, weight }: Site, x: Value, name: string): Value {
  const { layerNormEps } = architecture;
  return graph.layerNorm(x, weight(`${name}.weight`), weight(`${name}.bias`), layerNormEps)[0];
}

/** LayerNorm(x + W2 gelu(W1 x)) */
export function feedForward(site: Site, x: Value, layer: string): Value {
  const inner = site.graph.gelu(site.dense(x, `${layer}.intermediate.dense`));
  const out = site.dense(inner, `${layer}.output.dense`);
  return layerNorm(site, site.graph.add(x, out), `${layer}.output.LayerNorm`);
}

/** LayerNorm(x + W Attention(x)); `bias` of each group is added to its scores. */
export function attention(
  site: Site,
  x: Value,
  names: AttentionNames,
  bias: readonly Value[],
): Value {
  const [queries, keys, values] = [names.query, names.key, names.value].map((name) =>
    splitHeads(site, site.dense(x, name)),
  );
  const mixed = site.groups.map((group, g) => {
    const weights = attentionWeights(site, queries![g]!, keys![g]!, bias[g]!);
    const { heads, size } = headsOf(site);
    return site.graph.reshape(site.graph.matmul(weights, values![g]!), [heads, group.rows, size]);
  });
  const out = site.dense(joinHeads(site, mixed, x.dims[0]!), names.output);
  return layerNorm(site, site.graph.add(x, out), names.norm);
}

/** softmax(Q K^T / sqrt(size) + bias), [heads, texts, tokens, tokens] */
function attentionWeights(site: Site, query: Value, key: Value, bias: Value): Value {
  const alpha = 1 / Math.sqrt(headsOf(site).size);
  const scores = site.graph.matmul(query, key, { transB: true, alpha });
  return site.graph.softmax(site.graph.add(scores, bias));
}

/**
 * [N, D] to [heads, texts, tokens, size] of each group. Heads are moved to the
 * front before the groups are cut: one transposition in place of one a group.
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
