/** BERT (Devlin et al. 2019), as in MiniLM and e5. Weights have the names of Hugging Face's checkpoints. */
import { layerNorm, layers, type Site } from "./blocks.ts";
import type { Value } from "./graph.ts";

/** Returns the vectors of the tokens after the last layer, [N, D]. */
export function bert(site: Site): Value {
  const masks = site.groups.map((group) => group.mask);
  return layers(site, embeddings(site), masks);
}

/** Word + position + token type. Single texts have token type 0. */
function embeddings(site: Site): Value {
  const { graph, weight, ids, positions } = site;
  const words = graph.gather(weight("embeddings.word_embeddings.weight"), ids);
  const places = graph.gather(weight("embeddings.position_embeddings.weight"), positions);
  const first = graph.constant({ dims: [1], data: Int32Array.of(0) });
  const type = graph.gather(weight("embeddings.token_type_embeddings.weight"), first);
  return layerNorm(site, graph.add(graph.add(words, places), type), "embeddings.LayerNorm");
}
