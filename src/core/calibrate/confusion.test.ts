import { expect, it } from "vitest";
import { categoryConfusion } from "./confusion.ts";
import { categoryEmbeddings } from "./models.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);

it("counts the categories of the queries that are nearest to each category", () => {
  const embeddings = [at(1, 0), at(0.9, 0.1), at(0, 1), at(0.1, 0.9)];
  const offline = { embeddings, categories: [0, 0, 1, 1] };
  const xi = categoryEmbeddings(embeddings, offline.categories);
  const heldOut = { embeddings: [at(1, 0.2)], categories: [1] };
  const [first, second] = categoryConfusion(xi, offline, heldOut);
  expect(first).toEqual(at(2.5 / 4, 1.5 / 4));
  expect(second).toEqual(at(0.5 / 3, 2.5 / 3));
});

it("compares an offline query with the other queries of its category", () => {
  // The last query is nearest to its own category only because it is part of its mean.
  const embeddings = [at(1, 0), at(1, 0.1), at(0, 1), at(1, 0.4)];
  const offline = { embeddings, categories: [0, 0, 1, 1] };
  const xi = categoryEmbeddings(embeddings, offline.categories);
  const confusion = categoryConfusion(xi, offline);
  expect(confusion[0]![1]).toBeGreaterThan(confusion[0]![0]! / 3);
  expect(confusion.map((row) => row[0]! + row[1]!)).toEqual([1, 1]);
});

it("knows nothing about a category with one query", () => {
  const embeddings = [at(1, 0), at(0, 1)];
  const offline = { embeddings, categories: [0, 1] };
  expect(categoryConfusion(embeddings, offline)).toEqual([at(0.5, 0.5), at(0.5, 0.5)]);
});
