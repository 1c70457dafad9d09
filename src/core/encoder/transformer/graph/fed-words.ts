/**
 * Replaces the table of word embeddings by an input, [N, D], that holds the rows of
 * the words in the batch. The table is half of MiniLM, and several sessions can
 * then share one copy.
 */
import type { Graph } from "./graph.ts";
import { rewrite } from "./rewrite.ts";

export function withFedWords(old: Graph): Graph {
  return rewrite(old, ({ op, inputs: [, ids], outputs: [rows] }, graph) => {
    if (op !== "Gather" || ids!.name !== "ids") return undefined;
    return [graph.input("words", "float32", rows!.dims)];
  });
}

/** Returns the input of the graph: the rows of the table with these ids. */
export function wordRows(table: Float32Array, ids: Int32Array, D: number): Float32Array {
  const rows = new Float32Array(ids.length * D);
  for (const [i, id] of ids.entries()) rows.set(table.subarray(id * D, (id + 1) * D), i * D);
  return rows;
}
