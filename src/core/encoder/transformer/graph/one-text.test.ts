import { describe, expect, it } from "vitest";
import { tinyArchitecture, tinyWeights } from "../model/tiny-model.fixture.ts";
import { packTexts } from "./batch.ts";
import { encoderGraph } from "./encoder-graph.ts";
import type { Graph } from "./graph.ts";
import { forOneText, withFedWords, wordRows } from "./rewrite.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

const CASES = (["bert", "mpnet"] as const).flatMap((kind) =>
  (["mean", "cls", "max"] as const).map((pooling) => ({ kind, pooling })),
);

describe.each(CASES)("$kind, $pooling", ({ kind, pooling }) => {
  const architecture = tinyArchitecture(kind);
  const weights = tinyWeights(kind);
  const pack = { architecture, pooling, groups: 1 } as const;
  const { graph, texts } = encoderGraph({ ...pack, normalize: true, weights });
  graph.output("vectors", texts);
  const vectors = async (graph: Graph, ids: number[]) => {
    const feeds = packTexts([ids], pack);
    const words = wordRows(
      weights.get("embeddings.word_embeddings.weight")!.data,
      Int32Array.from(ids),
      architecture.hiddenSize,
    );
    feeds.set("words", { dims: [ids.length, architecture.hiddenSize], data: words });
    return (await runInOnnxruntime(graph, feeds)).get("vectors")!;
  };

  it.each([[[2, 3]], [[2, 9, 4, 7, 7, 5, 11, 3]]])(
    "does not change the embedding of one text: %j",
    async (ids) => {
      const expected = await vectors(graph, ids);
      const rewritten = await vectors(forOneText(withFedWords(graph)), ids);
      for (const [i, value] of expected.entries()) expect(rewritten[i]).toBeCloseTo(value, 6);
    },
  );

  it("has no masks, no moved heads and no table of words", () => {
    const { nodes, constants, outputs } = forOneText(withFedWords(graph));
    const read = new Set(outputs.values());
    const needed = nodes.toReversed().filter((node) => {
      const isRead = node.outputs.some((output) => read.has(output));
      if (isRead) for (const input of node.inputs) read.add(input);
      return isRead;
    });
    const count = (op: string) => needed.filter((node) => node.op === op).length;
    expect(count("Transpose")).toBe(architecture.layers + Number(kind === "mpnet"));
    const sizes = [...constants.values()].map(({ dims }) => dims.join());
    expect(sizes).not.toContain(`${architecture.vocabSize},${architecture.hiddenSize}`);
  });
});
