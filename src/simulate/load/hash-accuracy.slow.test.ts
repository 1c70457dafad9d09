import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { hashEncoder } from "../../encoder/hash.ts";
import { dot, mean, normalized } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import type { Dataset } from "../dataset.ts";
import { loadDataset } from "./load.ts";

const SHARED = resolve(import.meta.dirname, "../../../../shared/data");

it.skipIf(!existsSync(SHARED)).each([
  ["routerbench-queries/queries.jsonl.gz", 0.754],
  ["llmrouter-9models/llmrouter_9models.jsonl.gz", 0.626],
])("nearest-centroid accuracy of hash.ts on %s (needs ../shared/data)", async (file, expected) => {
  const dataset = await loadDataset(join(SHARED, file), { unscored: true });
  const vectors = await hashEncoder.encode(dataset.queries.map(({ text }) => text));
  let sum = 0;
  for (let draw = 0; draw < 10; draw++) {
    sum += accuracy(dataset, vectors, Random.seeded(100 + draw));
  }
  expect(sum / 10).toBeCloseTo(expected, 2);
});

/** Share of the queries nearest to the centroid of their own category, made of 5 others of it. */
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
