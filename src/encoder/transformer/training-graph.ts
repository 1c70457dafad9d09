/** One step of contrastive fine-tuning as a graph: texts and pairs in, loss and gradients out. */
import type { Architecture } from "./architecture.ts";
import { backward } from "./backward.ts";
import { encoderGraph, normalize } from "./encoder-graph.ts";
import type { Graph, Value } from "./graph.ts";
import type { Pooling } from "./modules.ts";

export interface TrainingGraphOptions {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  readonly groups: number;
}

/** Beside those of `encoderGraph` the inputs are `left`, `right` and `label`, [P] each. */
export function trainingGraph(options: TrainingGraphOptions): Graph {
  const { graph, weights, texts } = encoderGraph({ ...options, normalize: false });
  const loss = cosineLoss(graph, texts);
  const gradients = backward(graph, loss, weights.values());
  graph.output("loss", loss);
  for (const [name, weight] of weights) graph.output(gradientOf(name), gradients.get(weight)!);
  return graph;
}

export function gradientOf(name: string): string {
  return `d ${name}`;
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
