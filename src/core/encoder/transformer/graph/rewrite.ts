import { Graph, type Node, type Value } from "./graph.ts";

/** What takes the place of a node's outputs; undefined leaves the node as it is. */
export type Rule = (
  node: Node,
  graph: Graph,
  /** What a value of the old graph is in the new one. */
  twinOf: (value: Value) => Value,
) => readonly Value[] | undefined;

/** A copy of the graph, node by node, with what the rule makes of each. What is not needed any more is not written. */
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
