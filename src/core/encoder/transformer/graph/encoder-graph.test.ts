import { describe, expect, it } from "vitest";
import { Random } from "../../../random/random.ts";
import { tinyArchitecture, tinyWeights } from "../model/tiny-model.fixture.ts";
import { embed, forward } from "../reference/forward.fixture.ts";
import { type PackOptions, packTexts } from "./batch.ts";
import { relativeBucket } from "./blocks.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { runInOnnxruntime } from "./session.fixture.ts";

const KINDS = ["bert", "mpnet"] as const;
/** Texts of very different and of equal lengths, so that groups differ and some texts are padded. */
const TEXTS = texts([3, 17, 2, 9, 9, 1, 12]);

describe.each(KINDS)("%s", (kind) => {
  const architecture = tinyArchitecture(kind);
  const weights = tinyWeights(kind);

  it.each([1, 2, TEXTS.length, TEXTS.length + 3])(
    "agrees with plain loops, in %i groups",
    async (groups) => {
      const got = await encode(TEXTS, { architecture, pooling: "mean", groups });
      for (const [k, ids] of TEXTS.entries()) {
        expectClose(got(k), embed(ids, architecture, weights, "mean"));
      }
    },
  );

  it.each(["cls", "max"] as const)("pools by %s", async (pooling) => {
    for (const groups of [1, 3, TEXTS.length + 1]) {
      const got = await encode(TEXTS, { architecture, pooling, groups });
      for (const [k, ids] of TEXTS.entries()) {
        expectClose(got(k), embed(ids, architecture, weights, pooling));
      }
    }
  });

  it("also returns the vectors of the tokens", async () => {
    const pack = { architecture, pooling: "mean", groups: 1 } as const;
    const { graph, tokens } = encoderGraph({ ...pack, normalize: false, weights });
    graph.output("tokens", tokens);
    const [ids] = texts([7]);
    const result = await runInOnnxruntime(graph, packTexts([ids!], pack));
    expectClose([...result.get("tokens")!], forward(ids!, architecture, weights).flat());
  });

  async function encode(texts: number[][], pack: PackOptions) {
    const built = encoderGraph({ ...pack, normalize: true, weights });
    built.graph.output("texts", built.texts);
    const result = await runInOnnxruntime(built.graph, packTexts(texts, pack));
    const width = architecture.hiddenSize;
    return (k: number) => [...result.get("texts")!.subarray(k * width, (k + 1) * width)];
  }
});

describe("relativeBucket", () => {
  it("has single distances up to 7, then ranges up to 128, on each side", () => {
    const buckets = (distances: number[]) => distances.map((d) => relativeBucket(d, 32));
    expect(buckets([0, -1, -7, -8, -11, -12, -16, -32, -64, -128, -500])).toEqual([
      0, 1, 7, 8, 8, 9, 10, 12, 14, 15, 15,
    ]);
    expect(buckets([1, 7, 8, 16, 500])).toEqual([17, 23, 24, 26, 31]);
  });
});

function texts(lengths: number[]): number[][] {
  const random = Random.seeded(3);
  const { vocabSize } = tinyArchitecture("bert");
  return lengths.map((length) => Array.from({ length }, () => random.integer(vocabSize)));
}

function expectClose(got: readonly number[], expected: readonly number[]): void {
  expect(got).toHaveLength(expected.length);
  for (const [i, value] of expected.entries()) expect(got[i]).toBeCloseTo(value, 4);
}
