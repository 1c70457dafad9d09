import { expect, it } from "vitest";
import type { Dataset } from "../../lab/data/dataset.ts";
import { SETTINGS, type Settings } from "../../lab/simulate/settings.ts";
import { TABLED } from "../../lab/simulate/world.fixture.ts";
import { headingOf, offlineNotes } from "./heading.ts";

function heading(settings: Partial<Settings>, record: Record<string, unknown> = {}): string {
  return headingOf({
    source: {
      dataset: TABLED,
      embeddings: [],
      content: "",
      record: { data: "q.jsonl", encoder: "static", ...record },
    },
    policies: [],
    settings: { ...SETTINGS, ...settings },
    version: "",
  });
}

it("names the data and the told scores", () => {
  expect(heading({})).toBe(
    "q.jsonl: 10 queries in 2 categories, 3 models; 1000 rounds, told scores, vote scale 3, seed 1",
  );
});

it("names every setting that is not the default", () => {
  const text = heading(
    {
      rounds: 1,
      offline: 3,
      told: { kind: "noisy", sd: 0.2 },
      truthSd: 0.1,
      voteScale: 10,
      ties: 0.5,
      delay: 7,
      voters: { ...SETTINGS.voters, count: 20, malicious: 0.1 },
      lambda: 0.05,
      stream: "uniform",
      seed: 9,
    },
    { encoder: "embeddings", embeddings: "e.npy" },
  );
  expect(text).toBe(
    "q.jsonl: 10 queries in 2 categories, 3 models; 1 round, embeddings e.npy, offline 3, told noisy:0.2, truth noisy:0.1, lambda 0.05, stream uniform, vote scale 10, ties 0.5, delay 7, voters count=20 malicious=0.1, seed 9",
  );
  expect(heading({}, { encoder: "minilm" })).toContain(", encoder minilm, ");
});

it("notes how small categories change --offline", () => {
  const notes = (requested: number | undefined, offline: number, dataset: Dataset = TABLED) =>
    offlineNotes(requested, dataset, { ...SETTINGS, offline });
  expect(notes(2, 2)).toEqual([]);
  expect(notes(undefined, 3)).toEqual([
    "--offline 5 was reduced to 3: at most half of a category are offline queries",
    "small categories have fewer than 3 offline queries: y 2 of 4",
  ]);
  expect(notes(1, 1, { ...TABLED, queries: TABLED.queries.slice(0, 7) })).toEqual([
    "categories that are never streamed, because all their queries are offline queries: y",
  ]);
});
