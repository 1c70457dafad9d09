import { expect, it } from "vitest";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { dot, mean, normalized } from "../../core/linalg/linalg.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "./dataset.ts";
import { loadDataset } from "./load.ts";
import { describeWithPublicData, publicData } from "./real-data.fixture.ts";

describeWithPublicData("nearest-centroid accuracy of hash.ts", () => {
  it.each([
    ["routerbench-queries/queries.jsonl.gz", 0.754],
    ["llmrouter-9models/llmrouter_9models.jsonl.gz", 0.626],
  ])("on %s", async (file, expected) => {
    const dataset = await loadDataset(publicData(file), { unscored: true });
    const vectors = await hashEncoder.encode(dataset.queries.map(({ text }) => text));
    let sum = 0;
    for (let draw = 0; draw < 10; draw++) {
      sum += accuracy(dataset, vectors, Random.seeded(100 + draw));
    }
    expect(sum / 10).toBeCloseTo(expected, 2);
  });
});

/** Share of the queries whose nearest centroid, computed from 5 other queries, is that of their category. */
function accuracy({ queries, categories }: Dataset, X: Float64Array[], random: Random): number {
  const offline = new Set<number>();
  const centroids = categories.map((_, m) => {
    const members = [...queries.keys()].filter((i) => queries[i]!.category === m);
    const chosen = random.shuffle(members).slice(0, 5);
    for (const i of chosen) offline.add(i);
    return normalized(mean(chosen.map((i) => X[i]!)));
  });
  const online = [...queries.keys()].filter((i) => !offline.has(i));
  const right = online.filter((i) => {
    const cosines = centroids.map((centroid) => dot(X[i]!, centroid));
    return cosines.indexOf(Math.max(...cosines)) === queries[i]!.category;
  });
  return right.length / online.length;
}
