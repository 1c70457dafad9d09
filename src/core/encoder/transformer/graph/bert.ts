/** BERT (Devlin et al. 2019): MiniLM, e5. Names are those of Hugging Face's checkpoints. */
import { attention, feedForward, layerNorm, type Site } from "./blocks.ts";
import type { Value } from "./graph.ts";

/** The vectors of the tokens after the last layer, [N, D]. */
export function bert(site: Site): Value {
  const bias = site.groups.map((group) => group.mask);
  let x = embeddings(site);
  for (let i = 0; i < site.architecture.layers; i++) {
    const layer = `encoder.layer.${i}`;
    const names = {
      query: `${layer}.attention.self.query`,
      key: `${layer}.attention.self.key`,
      value: `${layer}.attention.self.value`,
      output: `${layer}.attention.output.dense`,
      norm: `${layer}.attention.output.LayerNorm`,
    };
    x = feedForward(site, attention(site, x, names, bias), layer);
  }
  return x;
}

/** Word, position and token type; a text alone is of type 0. */
function embeddings(site: Site): Value {
  const { graph, weight, ids, positions } = site;
  const words = graph.gather(weight("embeddings.word_embeddings.weight"), ids);
  const places = graph.gather(weight("embeddings.position_embeddings.weight"), positions);
  const first = graph.constant({ dims: [1], data: Int32Array.of(0) });
  const type = graph.gather(weight("embeddings.token_type_embeddings.weight"), first);
  return layerNorm(site, graph.add(graph.add(words, places), type), "embeddings.LayerNorm");
}
