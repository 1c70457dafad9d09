import { Graph, type Node, type Value } from "./graph.ts";

/** Returns values that replace the outputs of a node, or undefined to keep the node. */
export type Rule = (
  node: Node,
  graph: Graph,
  /** Maps a value of the old graph to its counterpart in the new one. */
  twinOf: (value: Value) => Value,
) => readonly Value[] | undefined;

/** Copies a graph node by node and applies the rule to each. Nodes that become unused are dropped when the graph is written. */
export function rewrite(old: Graph, rule: Rule): Graph {
  const graph = new Graph();
  const twins = new Map<Value, Value>();
  const twinOf = (value: Value): Value => {
    const twin = twins.get(value) ?? graph.constant(old.constants.get(value)!);
    twins.set(value, twin);
    return twin;
  };
  for (const input of old.inputs) {
    twins.set(input, graph.input(input.name, input.type, input.dims));
  }
  for (const node of old.nodes) {
    const { op, inputs, outputs, attributes, domain } = node;
    const made =
      rule(node, graph, twinOf) ?? graph.node(op, inputs.map(twinOf), outputs, attributes, domain);
    for (const [i, output] of outputs.entries()) twins.set(output, made[i]!);
  }
  for (const [name, value] of old.outputs) graph.output(name, twinOf(value));
  return graph;
}
