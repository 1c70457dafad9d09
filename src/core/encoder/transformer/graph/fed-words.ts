/**
 * The graph with the vectors of its words as an input, [N, D], in place of their
 * table, which is half of MiniLM: it is then held once for several sessions.
 */
import type { Graph } from "./graph.ts";
import { rewrite } from "./rewrite.ts";

export function withFedWords(old: Graph): Graph {
  return rewrite(old, ({ op, inputs: [, ids], outputs: [rows] }, graph) => {
    if (op !== "Gather" || ids!.name !== "ids") return undefined;
    return [graph.input("words", "float32", rows!.dims)];
  });
}

/** What is fed: the rows of the table that the ids mean. */
export function wordRows(table: Float32Array, ids: Int32Array, D: number): Float32Array {
  const rows = new Float32Array(ids.length * D);
  for (const [i, id] of ids.entries()) rows.set(table.subarray(id * D, (id + 1) * D), i * D);
  return rows;
}
