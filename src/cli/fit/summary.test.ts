import { expect, it } from "vitest";
import { CONTENTS } from "../../core/calibrate/bundle.fixture.ts";
import { fewerNote, fitRecord, fitSummary } from "./summary.ts";

const Q = { title: "q.jsonl", file: "q.jsonl" };
const FLAGS = { out: "out/my bundle", scores: "data/scores.csv", exclude: ["gpt-4", "b"] };

it("summarizes the bundle and shows the next command", () => {
  expect(
    fitSummary({ title: "queries.jsonl", file: "data/queries.jsonl" }, FLAGS, CONTENTS),
  ).toBe(`\
Fitted hash_E0_Excel_perf_cost_ctrl
  queries   2 of queries.jsonl, in 2 categories
  encoder   hash, not trained
  models    3, embedded by excel_perf_cost; scores: scores.csv
  accuracy  0.667: share of 3 other queries that are nearest to the mean of their own category
Bundle: out/my bundle
Next:   npx joust simulate data/queries.jsonl --scores data/scores.csv --exclude gpt-4,b --encoder 'out/my bundle'
`);
});

it("shows the losses and accuracies of training", () => {
  const settings = { ...CONTENTS.settings, epochs: 2 };
  const measured = { pairs: 140, losses: [0.25, 0.125], heldOut: 1, before: 0.5, after: 1 };
  const text = fitSummary(Q, { out: "b" }, { ...CONTENTS, settings, measured });
  expect(text).toContain(
    "hash, fine-tuned on 140 pairs for 2 epochs; mean loss 0.250 in the first, 0.125 in the last\n",
  );
  expect(text).toContain("accuracy  0.500 before, 1.000 after: share of 1 other query that");
  expect(text).toContain("scores: means over these queries\n");
  const categories = ["c", "a"].map((name, m) => ({ ...CONTENTS.categories[m]!, name }));
  expect(fitSummary(Q, { out: "b" }, { ...CONTENTS, categories })).toContain(
    "2 of q.jsonl, grouped by best model, in 2 groups\n",
  );
  const none = { ...measured, heldOut: 0, before: null, after: null };
  const used = fitSummary(Q, { out: "b" }, { ...CONTENTS, measured: none });
  expect(used).toContain("accuracy  not measured, because every query was used\n");
  expect(used).toContain("simulate OTHER_DATA --encoder b\n");
  const log = fitSummary({ title: "the log of auto" }, { out: "b" }, { ...CONTENTS, measured });
  expect(log).toContain("2 of the log of auto, in");
  expect(log).toContain("Next:   write the folder into joust.yaml as the bundle of the router\n");
});

it("names the categories with fewer queries than requested", () => {
  expect(fewerNote({ out: "b", offline: 1 }, CONTENTS)).toBeUndefined();
  expect(fewerNote({ out: "b" }, CONTENTS)).toBe(
    "these categories have fewer than 5 queries, and all of them were used: x 1, y 1",
  );
});

it("is also a record for programs, without vectors", () => {
  const record = fitRecord("b", CONTENTS);
  expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  expect(record).toMatchObject({
    bundle: "b",
    name: "hash_E0_Excel_perf_cost_ctrl",
    categories: [
      { name: "x", queries: 1 },
      { name: "y", queries: 1 },
    ],
    models: ["a", "b", "c"],
  });
});
