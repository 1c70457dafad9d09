import { expect, it } from "vitest";
import type { Dataset, Query } from "./dataset.ts";
import { readEmbeddings } from "./embeddings.ts";
import { loadDataset } from "./load.ts";
import {
  describeWithPublicData,
  OWN_QUERIES,
  OWN_SCORES,
  publicData,
} from "./real-data.fixture.ts";

function sizes({ queries, categories, models }: Dataset): number[] {
  return [queries.length, categories.length, models.length];
}

it("the project's own queries", async () => {
  const { categories, models, scores } = await loadDataset(OWN_QUERIES, { scores: OWN_SCORES });
  expect(categories.length).toBe(7);
  expect(models.length).toBe(11);
  expect(scores!.perf[models.indexOf("gpt-4")]![categories.indexOf("mmlu")]).toBe(0.828);
  const without = await loadDataset(OWN_QUERIES, { scores: OWN_SCORES, exclude: ["gpt-4"] });
  expect(without.models).toEqual(models.filter((name) => name !== "gpt-4"));
});

describeWithPublicData("public data sets", () => {
  it("RouterBench: 7550 queries of 7 benchmarks, and MiniLM's vectors of them", async () => {
    const file = publicData("routerbench-queries/queries.jsonl.gz");
    const dataset = await loadDataset(file, { scores: OWN_SCORES, exclude: ["gpt-4"] });
    expect(sizes(dataset)).toEqual([7550, 7, 10]);
    const vectors = await readEmbeddings(
      publicData("minilm-embeddings/routerbench-queries.npy"),
      dataset,
    );
    expect(vectors.length).toBe(7550);
    for (const x of vectors) expect(Math.hypot(...x)).toBeCloseTo(1, 5);
  });

  it("LLMRouter: 6108 queries, 14 tasks, 9 models", async () => {
    const file = publicData("llmrouter-9models/llmrouter_9models.jsonl.gz");
    expect(sizes(await loadDataset(file))).toEqual([6108, 14, 9]);
  });

  it("953 conversations: 557 Condorcet winners, GPT-4 on top of two thirds", async () => {
    const file = publicData("qlora-gpt4-pairwise/oa953_7models_gpt4_pairwise.jsonl.gz");
    const dataset = await loadDataset(file);
    expect(sizes(dataset)).toEqual([953, 0, 7]);
    expect(dataset.queries[0]!.text).toMatch(/^Thank you\. +Is it better to build my own PC/);
    const won = dataset.queries.filter((query) => condorcetWinner(query) >= 0);
    expect(won.length).toBe(557);
    for (const query of won) expect(bestOf(query)).toEqual([condorcetWinner(query)]);
    expect(topShare(dataset, "gpt-4")).toBeCloseTo(0.68, 2);
    const without = await loadDataset(file, { exclude: ["gpt-4"] });
    expect(Math.max(...without.models.map((name) => topShare(without, name)))).toBeCloseTo(0.28, 2);
  });

  it("80 Vicuna questions: 9 categories, 8 models", async () => {
    const file = publicData("qlora-gpt4-pairwise/vicuna80_gpt4_pairwise.jsonl.gz");
    expect(sizes(await loadDataset(file))).toEqual([80, 9, 8]);
  });

  it("MMLU: 645 queries of 5 topics, and the same text as RouterBench's", async () => {
    const classic = publicData("mmlu/five_topics_classic_csv");
    const topics = await loadDataset(classic, { unscored: true });
    expect(sizes(topics)).toEqual([645, 5, 0]);
    const file = publicData("routerbench-queries/queries.jsonl.gz");
    const bench = await loadDataset(file, { unscored: true });
    const texts = new Map(bench.queries.map(({ id, text }) => [id, text]));
    const shared = topics.queries.filter(({ id }) => texts.has(benchId(id)));
    expect(shared.length).toBeGreaterThan(20);
    for (const { id, text } of shared) expect(text).toBe(texts.get(benchId(id)));
  });
});

/** abstract_algebra.test.37 is mmlu-abstract-algebra.test.37 in RouterBench. */
function benchId(id: string): string {
  return `mmlu-${id.replaceAll("_", "-")}`;
}

/** Share of the queries on which the model is best; n best models of a query count 1/n each. */
function topShare({ models, queries }: Dataset, name: string): number {
  const k = models.indexOf(name);
  const parts = queries.map(bestOf).map((best) => (best.includes(k) ? 1 / best.length : 0));
  return parts.reduce((sum, part) => sum + part, 0) / queries.length;
}

function bestOf({ scores }: Query): number[] {
  return [...scores!.keys()].filter((k) => scores![k] === 1);
}

/** The model that won more often than it lost against every other; -1 if there is none. */
function condorcetWinner({ scores, comparisons }: Query): number {
  const K = scores!.length;
  const balance = Array.from({ length: K }, () => new Array<number>(K).fill(0));
  for (const { a, b, outcome } of comparisons!) {
    const step = outcome === "a" ? 1 : outcome === "b" ? -1 : 0;
    balance[a]![b]! += step;
    balance[b]![a]! -= step;
  }
  return balance.findIndex((row, k) => row.every((value, j) => j === k || value > 0));
}
