/** The graph from tokens to the vectors of texts, for serving and for training alike. */
import { type Architecture, weightShapes } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";
import type { Tensor } from "../model/safetensors.ts";
import { bert } from "./bert.ts";
import type { Group, Site } from "./blocks.ts";
import { Graph, type Value } from "./graph.ts";
import { mpnet } from "./mpnet.ts";

const FORWARD = { bert, mpnet };
/** The table of words is fed whole, or only the rows that the ids speak of: it has any number. */
export const WORDS = "embeddings.word_embeddings.weight";
export const POSITIONS = "embeddings.position_embeddings.weight";

export interface EncoderGraphOptions {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  /** Vectors are scaled to length 1. */
  readonly normalize: boolean;
  /** Parts of a batch, each padded to a length of its own: see batch.ts. */
  readonly groups: number;
  /** Become part of the graph; without them every weight is an input. */
  readonly weights?: ReadonlyMap<string, Tensor>;
}

export interface EncoderGraph {
  readonly graph: Graph;
  /** By name. */
  readonly weights: ReadonlyMap<string, Value>;
  /** The vectors of the tokens, [N, D], the groups' one after another. */
  readonly tokens: Value;
  /** The vectors of the texts, [K, D]. */
  readonly texts: Value;
}

/** Its inputs beside the weights are those of `packTexts`. Outputs are the caller's to name. */
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
  const tokens = FORWARD[architecture.kind](site);
  const pooled = pooling === "max" ? poolLargest(site, tokens) : poolLinearly(site, tokens);
  return { graph, weights, tokens, texts: options.normalize ? normalize(graph, pooled) : pooled };
}

/** A weight is made when it is first asked for. */
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

/** The dimensions of group g of `count`; those of an only group are the batch's own. */
function group(graph: Graph, g: number, count: number): Group {
  const [texts, rows] = count === 1 ? ["K", "N"] : [`texts.${g}`, `rows.${g}`];
  const tokens = `tokens.${g}`;
  const mask = graph.input(`mask.${g}`, "float32", [texts, tokens]);
  graph.define(rows, [texts, tokens]);
  return { texts, tokens, rows, mask: graph.reshape(mask, [1, texts, 1, tokens]) };
}

/** The input `pool` is a matrix from tokens to texts, so mean and first token are one product. */
function poolLinearly({ graph }: Site, tokens: Value): Value {
  return graph.gemm(graph.input("pool", "float32", ["K", "N"]), tokens);
}

/** The largest of each coordinate; `pool` then puts the texts of the groups into their order. */
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

/** x / |x|; the addend keeps a vector of zeros as it is and is lost on any other. */
export function normalize(graph: Graph, x: Value): Value {
  const square = graph.reduceSum(graph.mul(x, x), [-1]);
  return graph.div(x, graph.sqrt(graph.add(square, graph.scalar(1e-24))));
}
