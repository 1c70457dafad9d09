/**
 * The graphs of contrastive fine-tuning. `stepGraph` computes a whole step. If its
 * activations do not fit into memory, the other three graphs compute the same step
 * in parts (Gao et al. 2021, "Scaling deep contrastive learning batch size under
 * memory limited setup"): the loss depends on the weights through the embeddings of
 * the texts only. So once d loss / d embeddings is known, each part of the texts
 * goes forward and backward by itself, and the gradients are added.
 */

import { backward } from "../graph/backward.ts";
import { type EncoderGraph, encoderGraph, normalize } from "../graph/encoder-graph.ts";
import { Graph, type Value } from "../graph/graph.ts";
import type { Architecture } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";

export interface TrainingGraphOptions {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  readonly groups: number;
}

/** Graph from texts and pairs to `loss` and the gradient of every weight. */
export function stepGraph(options: TrainingGraphOptions): Graph {
  const encoder = encoderGraph({ ...options, normalize: false });
  const loss = cosineLoss(encoder.graph, encoder.texts);
  encoder.graph.output("loss", loss);
  return withGradients(encoder, loss);
}

/** Graph from texts to their embeddings, `vectors`. */
export function vectorsGraph(options: TrainingGraphOptions): Graph {
  const { graph, texts } = encoderGraph({ ...options, normalize: false });
  graph.output("vectors", texts);
  return graph;
}

/** Graph from `vectors` and pairs to `loss` and the gradient of the vectors. */
export function lossGraph({ architecture }: TrainingGraphOptions): Graph {
  const graph = new Graph();
  const vectors = graph.input("vectors", "float32", ["K", architecture.hiddenSize]);
  const loss = cosineLoss(graph, vectors);
  graph.output("loss", loss);
  graph.output(gradientOf("vectors"), backward(graph, loss, [vectors]).get(vectors)!);
  return graph;
}

/**
 * Graph from texts and the gradient of their vectors, `seed`, to the gradient of every
 * weight, which is the gradient of sum(vectors * seed).
 */
export function seededGraph(options: TrainingGraphOptions): Graph {
  const encoder = encoderGraph({ ...options, normalize: false });
  const { graph, texts } = encoder;
  const seeded = graph.mul(texts, graph.input("seed", "float32", texts.dims));
  return withGradients(encoder, graph.reduceSum(seeded, [0, 1], false));
}

/** Name of the output that holds d loss / d `name`. */
export function gradientOf(name: string): string {
  return `d ${name}`;
}

function withGradients({ graph, weights }: EncoderGraph, loss: Value): Graph {
  const gradients = backward(graph, loss, weights.values());
  for (const [name, weight] of weights) graph.output(gradientOf(name), gradients.get(weight)!);
  return graph;
}

/** mean (cos(u, v) - label)^2 over pairs of texts: sentence-transformers' CosineSimilarityLoss. */
function cosineLoss(graph: Graph, texts: Value): Value {
  const directions = normalize(graph, texts);
  const [left, right] = ["left", "right"].map((name) =>
    graph.gather(directions, graph.input(name, "int32", ["P"])),
  );
  const cosine = graph.reduceSum(graph.mul(left!, right!), [-1], false);
  const error = graph.sub(cosine, graph.input("label", "float32", ["P"]));
  return graph.reduceMean(graph.mul(error, error), [0], false);
}
