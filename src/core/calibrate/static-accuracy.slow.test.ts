import { expect, it } from "vitest";
import { loadDataset } from "../../lab/data/load.ts";
import { takeOffline } from "../../lab/data/offline.ts";
import { describeWithPublicData, publicData } from "../../lab/data/real-data.fixture.ts";
import type { Encoder } from "../encoder/common/encoder.ts";
import { openStatic } from "../encoder/static/open-static.ts";
import { StaticEncoder } from "../encoder/static/static-encoder.ts";
import { readNpy } from "../input/npy.ts";
import { Random } from "../random/random.ts";
import { mean } from "../statistics.ts";
import { TRAINING_DEFAULTS } from "./fine-tune.ts";
import { fineTuneStatic } from "./fine-tune-static.ts";
import { categoryEmbeddings, nearestCentroidAccuracy } from "./models.ts";
import { batchesOf, pairsOf } from "./pairs.ts";

const { epochs, batch, learningRate } = TRAINING_DEFAULTS.static;

describeWithPublicData("category accuracy on RouterBench, 5 offline queries each, 10 draws", () => {
  it("the static encoder is as accurate as MiniLM, and more accurate after fine-tuning", async () => {
    const dataset = await loadDataset(publicData("routerbench-queries/queries.jsonl.gz"), {
      unscored: true,
    });
    const vectors = await readNpy(publicData("minilm-embeddings/routerbench-queries.npy"));
    const vectorOf = new Map(dataset.queries.map(({ text }, i) => [text, vectors[i]!]));
    const minilm = {
      encode: async (texts: readonly string[]) => texts.map((t) => vectorOf.get(t)!),
    };
    const { encoder } = await openStatic();
    const found = { minilm: [], static: [], tuned: [] } as Record<string, number[]>;
    for (let draw = 0; draw < 10; draw++) {
      const random = Random.seeded(1).split(draw);
      const { offline, heldOut } = takeOffline(dataset, 5, random);
      const pairs = pairsOf(offline.categories, random.split("pairs"));
      const { table } = await fineTuneStatic({
        table: encoder.table,
        texts: offline.texts,
        batches: Array.from({ length: epochs }, (_, n) =>
          batchesOf(pairs, batch, random.split(n)),
        ).flat(),
        learningRate,
      });
      const accuracy = async ({ encode }: Pick<Encoder, "encode">) => {
        const xi = categoryEmbeddings(await encode(offline.texts), offline.categories);
        return nearestCentroidAccuracy(xi, await encode(heldOut.texts), heldOut.categories);
      };
      const tuned = new StaticEncoder(table);
      found.minilm!.push(await accuracy(minilm));
      found.static!.push(await accuracy({ encode: (texts) => encoder.encode(texts) }));
      found.tuned!.push(await accuracy({ encode: (texts) => tuned.encode(texts) }));
    }
    const [untouched, plain, tuned] = [found.minilm!, found.static!, found.tuned!].map(mean);
    expect(plain! / untouched!).toBeGreaterThan(0.97);
    expect(tuned!).toBeGreaterThan(untouched!);
    expect(plain).toBeCloseTo(0.834, 2);
    expect(tuned).toBeCloseTo(0.865, 2);
  });
});
