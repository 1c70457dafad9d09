import { Random } from "../../random/random.ts";
import { quantize, type StaticTable } from "./static-table.ts";

/** A table of random vectors for a few tokens. The token "zero" has the zero vector. */
export function smallTable(dimension = 6, seed = 1): StaticTable {
  const tokens = ["[UNK]", ..."? . , a b c the cat dog ##s zero sat on mat 1 2 é 漢".split(" ")];
  const random = Random.seeded(seed);
  const vectors = Float64Array.from({ length: tokens.length * dimension }, () => random.normal());
  vectors.fill(0, tokens.indexOf("zero") * dimension, (tokens.indexOf("zero") + 1) * dimension);
  return {
    dimension,
    source: "made up",
    tokenizer: {
      tokens,
      unknown: 0,
      continuingPrefix: "##",
      longestWord: 100,
      normalizer: {
        cleanText: true,
        handleChineseChars: true,
        stripAccents: null,
        lowercase: true,
      },
      added: [{ content: "[UNK]", id: 0, normalized: false }],
    },
    ...quantize(vectors, dimension),
  };
}
