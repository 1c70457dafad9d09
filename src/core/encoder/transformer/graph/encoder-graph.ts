/** Builds the graph from tokens to the embeddings of texts. Inference and training both use it. */
import { type Architecture, weightShapes } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";
import type { Tensor } from "../model/safetensors.ts";
import { type Group, type Site, tokenVectors } from "./blocks.ts";
import { Graph, type Value } from "./graph.ts";

/** The table of word embeddings. It may have any number of rows: all words, or those that occur. */
export const WORDS = "embeddings.word_embeddings.weight";
export const POSITIONS = "embeddings.position_embeddings.weight";

export interface EncoderGraphOptions {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  /** Whether embeddings are scaled to length 1. */
  readonly normalize: boolean;
  /** Number of groups of texts, each padded to its own length: see batch.ts. */
  readonly groups: number;
  /** Constants of the graph. Without them every weight is an input. */
  readonly weights?: ReadonlyMap<string, Tensor>;
}

export interface EncoderGraph {
  readonly graph: Graph;
  /** Weights by name. */
  readonly weights: ReadonlyMap<string, Value>;
  /** Vectors of the tokens, [N, D], group after group. */
  readonly tokens: Value;
  /** Embeddings of the texts, [K, D]. */
  readonly texts: Value;
}

/** Besides the weights, the graph has the inputs that `packTexts` returns. The caller adds outputs. */
export function encoderGraph(options: EncoderGraphOptions): EncoderGraph {
  const { architecture, pooling } = options;
  const graph = new Graph();
  const { weights, weight } = weightsOf(graph, options);
  const groups = Array.from({ length: options.groups }, (_, g) => group(graph, g, options.groups));
  const site: Site = {
    graph,
    architecture,
    ids: graph.input("ids", "int32", ["N"]),
    positions: graph.input("positions", "int32", ["N"]),
    groups,
    weight,
    dense: (x, name) =>
      graph.gemm(x, weight(`${name}.weight`), weight(`${name}.bias`), { transB: true }),
  };
  const tokens = tokenVectors(site);
  const pooled = pooling === "max" ? poolLargest(site, tokens) : poolLinearly(site, tokens);
  return { graph, weights, tokens, texts: options.normalize ? normalize(graph, pooled) : pooled };
}

/** Adds each weight to the graph when it is first used. */
function weightsOf(graph: Graph, { architecture, weights: constants }: EncoderGraphOptions) {
  const shapes = weightShapes(architecture);
  const weights = new Map<string, Value>();
  const weight = (name: string): Value => {
    const known = weights.get(name);
    if (known) return known;
    const made = constants
      ? graph.constant(constants.get(name)!, name)
      : graph.input(
          name,
          "float32",
          name === WORDS ? ["V", architecture.hiddenSize] : shapes.get(name)!,
        );
    weights.set(name, made);
    return made;
  };
  return { weights, weight };
}

/** Names the dimensions of group g. A single group has the dimensions of the batch. */
function group(graph: Graph, g: number, count: number): Group {
  const [texts, rows] = count === 1 ? ["K", "N"] : [`texts.${g}`, `rows.${g}`];
  const tokens = `tokens.${g}`;
  const mask = graph.input(`mask.${g}`, "float32", [texts, tokens]);
  graph.define(rows, [texts, tokens]);
  return { texts, tokens, rows, mask: graph.reshape(mask, [1, texts, 1, tokens]) };
}

/** Multiplies by the input `pool`, a matrix from tokens to texts, which expresses both the mean and the first token. */
function poolLinearly({ graph }: Site, tokens: Value): Value {
  return graph.gemm(graph.input("pool", "float32", ["K", "N"]), tokens);
}

/** Takes the maximum of each coordinate. The input `pool` then puts the texts into their order. */
function poolLargest({ graph, groups, architecture }: Site, tokens: Value): Value {
  const rows = groups.map((group) => group.rows);
  const parts = graph.split(tokens, 0, rows);
  const largest = groups.map((group, g) => {
    const dims = [group.texts, group.tokens, architecture.hiddenSize];
    const mask = graph.reshape(group.mask, [group.texts, group.tokens, 1]);
    return graph.reduceMax(graph.add(graph.reshape(parts[g]!, dims), mask), 1);
  });
  const all = graph.concat(largest, 0, "R");
  return graph.gemm(graph.input("pool", "float32", ["K", "R"]), all);
}

/** x / |x|. The small addend keeps a zero vector unchanged and is lost in rounding for any other. */
export function normalize(graph: Graph, x: Value): Value {
  const square = graph.reduceSum(graph.mul(x, x), [-1]);
  return graph.div(x, graph.sqrt(graph.add(square, graph.scalar(1e-24))));
}
