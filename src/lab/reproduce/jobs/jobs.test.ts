import { beforeAll, describe, expect, it } from "vitest";
import { fgtsCdb } from "../../../core/bandit/policies/fgts-cdb.ts";
import { dot, normalized } from "../../../core/linalg/linalg.ts";
import { loadPolicy } from "../../../core/policy-spec/load-policy.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { Result } from "../../jobs/job.ts";
import { fgts } from "../setting.ts";
import { calibrationOf } from "./calibration.ts";
import { describe as describeVectors } from "./describe.ts";
import { laterName, openDraw, restrict, streamedTexts } from "./draw.ts";
import { embed } from "./embed.ts";
import { linear } from "./linear.ts";
import { openData } from "./open-data.ts";
import { contextOf, contextWith, EXEMPLARS, HASH, OWN, QUERIES } from "./own.fixture.ts";
import { promptsOf } from "./prompts.ts";
import { run } from "./run.ts";
import type { DataSpec, DescribeValue, DrawSpec, RunSpec, RunValue, ToldSpec } from "./specs.ts";
import { textsOf } from "./texts.ts";
import { vectorsOf } from "./vectors.ts";

const DRAW: DrawSpec = { data: "own", offline: 5, seed: 1, run: 0 };
const UNIFORM = { rounds: 60, stream: "uniform" } as const;
const EXCEL: ToldSpec = {
  models: { weighting: "excel_perf_cost", tau: 3, lambda: 0.05, temperature: 1 },
};
const ownContext = () => contextWith({ own: OWN });

/** Vectors of all own queries, with the id "x". */
let vectors: Result;
beforeAll(async () => {
  vectors = await embed({ encoder: HASH, texts: { of: "data", data: "own" } }, await ownContext());
});
const withVectors = () => contextWith({ own: OWN }, { x: vectors });

const load = async (spec: DataSpec): Promise<Dataset> =>
  openData("data", await contextWith({ data: spec }, { x: vectors }));

describe("data", () => {
  it("of several files is one data set", async () => {
    const dataset = await load({ ...OWN, files: [QUERIES, EXEMPLARS] });
    expect(dataset.queries).toHaveLength(140 + 350);
    expect(dataset.categories).toHaveLength(7);
    expect(dataset.models).not.toContain("gpt-4");
  });

  it("of some categories has their columns of scores", async () => {
    const all = await load(OWN);
    const some = await load({ ...OWN, categories: ["gsm8k", "mmlu"] });
    expect(some.categories).toEqual(["mmlu", "gsm8k"]);
    expect(some.queries).toHaveLength(40);
    const column = all.categories.indexOf("gsm8k");
    expect(some.scores!.perf.map((row) => row[1])).toEqual(
      all.scores!.perf.map((row) => row[column]),
    );
    expect(some.queries.at(-1)!.category).toBe(1);
    await expect(load({ ...OWN, categories: ["law"] })).rejects.toThrow("no category law");
  });

  it("of experts: each is best in its own category, by cosines of the categories' means", async () => {
    const { scores: _, ...plain } = OWN;
    const dataset = await load({ ...plain, exclude: [], experts: "x" });
    const { perf } = dataset.scores!;
    expect(dataset.models[0]).toBe("expert in mmlu");
    perf.forEach((row, k) => {
      expect(row[k]).toBeCloseTo(1, 12);
      for (const [m, value] of row.entries()) {
        expect(value).toBe(perf[m]![k]);
        if (m !== k) expect(value).toBeLessThan(0.999);
      }
    });
  });

  it("with drawn verdicts has both orders of every pair and no categories", async () => {
    const dataset = await load({ ...OWN, verdicts: 1 });
    expect(dataset.categories).toEqual([]);
    for (const { comparisons, scores, category } of dataset.queries) {
      expect(comparisons).toHaveLength(10 * 9);
      expect(category).toBe(-1);
      expect(Math.max(...scores!)).toBe(1);
    }
    expect(await load({ ...OWN, verdicts: 1 })).toEqual(dataset);
    const fewer = await load({ ...OWN, verdicts: 1, ambiguous: 0.15 });
    expect(fewer.queries).toHaveLength(140 - 21);
  });
});

describe("a draw", () => {
  it("streams no offline query, whatever the stream", async () => {
    const draw = await openDraw(DRAW, await ownContext());
    expect(draw.offline.texts).toHaveLength(35);
    expect(draw.online.queries).toHaveLength(105);
    for (const stream of ["uniform", "shuffled"] as const) {
      const texts = streamedTexts(draw, { rounds: 500, stream });
      expect(texts.filter((text) => draw.offline.texts.includes(text))).toEqual([]);
    }
    expect(streamedTexts(draw, { rounds: "once", stream: "shuffled" })).toHaveLength(105);
    const other = await openDraw({ ...DRAW, run: 1 }, await ownContext());
    expect(other.offline.ids).not.toEqual(draw.offline.ids);
  });

  it("may take offline queries from other data, so that two drops share them", async () => {
    const dropped = (ambiguous: number) => ({ ...OWN, verdicts: 1, ambiguous });
    const context = await contextWith({ few: dropped(0.08), many: dropped(0.15) });
    const [few, many] = await Promise.all(
      ["few", "many"].map((data) => openDraw({ ...DRAW, data, offlineData: "many" }, context)),
    );
    expect(few!.offline.ids).toEqual(many!.offline.ids);
    expect(few!.online.queries.length).toBe(many!.online.queries.length + 10);
  });

  it("can be restricted: neither scores nor queries of other categories are known", async () => {
    const { offline } = await openDraw(DRAW, await ownContext());
    const names = offline.categoryNames.filter((name) => name !== "arc-challenge");
    const part = restrict(offline, names);
    expect(part.categoryNames).toEqual(names);
    expect(part.texts).toHaveLength(30);
    expect(part.scores[0]).toHaveLength(6);
    part.texts.forEach((text, i) => {
      const at = offline.texts.indexOf(text);
      expect(offline.categoryNames[offline.categories[at]!]).toBe(names[part.categories[i]!]);
    });
    expect(restrict(offline)).toBe(offline);
  });

  it("with a change repeats every category, in which each model has the scores of another", async () => {
    const { online } = await openDraw({ ...DRAW, change: true }, await ownContext());
    expect(online.categories).toHaveLength(14);
    expect(online.categories[7]).toBe(laterName(online.categories[0]!));
    expect(online.queries).toHaveLength(210);
    const { perf } = online.scores!;
    const rows = (from: number) => perf.map((row) => row.slice(from, from + 7).join());
    expect(rows(7).toSorted()).toEqual(rows(0).toSorted());
    rows(7).forEach((row, k) => {
      expect(row).not.toBe(rows(0)[k]);
    });
  });
});

describe("prompts", () => {
  it("are the paper's listings, character by character", async () => {
    const { offline } = await openDraw(DRAW, await ownContext());
    const k = offline.models.indexOf("yi-34b"); // best on MT-Bench: 0.938, cost 0.018
    const m = offline.categoryNames.indexOf("mt-bench");
    const own = offline.texts.filter((_, i) => offline.categories[i] === m);
    expect(promptsOf(offline, { listing: "model", examples: 3 })[k]).toBe(
      `This is yi-34b, a language model with average performance score of 0.938 and cost efficiency rating of 55.556.It has shown particular strength in mt-bench type questions.Example question(s) it handles: ${own[0]}, ${own[1]}, and ${own[2]}.`,
    );
    expect(promptsOf(offline, { listing: "model", examples: 1 })[k]).toMatch(
      `Example question(s) it handles: ${own[0]}.`,
    );
    const [first] = promptsOf(
      { ...offline, models: ["expert"], categoryNames: ["abstract_algebra"] },
      { listing: "topic", examples: 2 },
    );
    const [a, b] = offline.texts;
    expect(first).toBe(
      `This model is very good at solving questions regarding abstract algebra.Example questions it excels at: 1. ${a}2. ${b}.`,
    );
    const plain = promptsOf(offline, { listing: "plain", examples: 1 });
    expect(plain[0]).toMatch(
      /^This is wizardlm-13b, a language model\.Example question\(s\) it handles: /,
    );
  });
});

describe("a calibration", () => {
  it("uses only the offline queries, and makes a_k as the spec says", async () => {
    const { offline } = await openDraw(DRAW, await ownContext());
    const vector = await vectorsOf(["x"], await withVectors());
    const excel = calibrationOf(offline, EXCEL, vector);
    expect(excel.centroids).toHaveLength(7);
    expect(excel.sizes).toEqual(Array(7).fill(5));
    const means = calibrationOf(offline, { models: "means" }, vector);
    expect(means.embeddings).toEqual(means.centroids);
    expect(means.weighting).toBeUndefined();
    const five = calibrationOf(
      offline,
      { ...EXCEL, categories: offline.categoryNames.slice(0, 5) },
      vector,
    );
    expect(five.scores[0]).toHaveLength(5);
    expect(five.centroids).toEqual(excel.centroids.slice(0, 5));
    const prompt = { listing: "model", examples: 1 } as const;
    const spec = { of: "prompts", draw: DRAW, prompt } as const;
    const texts = await textsOf(spec, await ownContext());
    expect(texts).toHaveLength(10);
    const prompts = await embed({ encoder: HASH, texts: spec }, await ownContext());
    const both = await vectorsOf(["x", "p"], contextOf({ x: vectors, p: prompts }));
    expect(calibrationOf(offline, { models: prompt }, both).embeddings).toEqual(texts.map(both));
  });

  it("has no vector for a text that was not embedded", async () => {
    const vector = await vectorsOf(["x"], await withVectors());
    expect(() => vector("Who was that?")).toThrow('no vector for "Who was that?"');
  });
});

describe("a run", () => {
  const SPEC: RunSpec = {
    draw: DRAW,
    told: EXCEL,
    vectors: ["x"],
    policy: { kind: "random", options: {} },
    stream: UNIFORM,
    voteScale: 10,
    lambda: 0,
    price: 0.05,
  };
  const perform = async (changes: Partial<RunSpec>) => {
    const spec = { ...SPEC, ...changes };
    const kind = await loadPolicy(spec.policy.kind);
    return (await run(spec, kind, await withVectors())).value as RunValue;
  };
  const policy = (kind: string, options = {}) => ({ policy: { kind, options } });

  it("gives the same numbers again, and a shorter run is its beginning", async () => {
    const fgts = policy("fgts-cdb", { weighting: "fitted", steps: 1 });
    const long = await perform({ ...fgts, stream: { ...UNIFORM, rounds: 50 } });
    expect(await perform({ ...fgts, stream: { ...UNIFORM, rounds: 50 } })).toEqual(long);
    const short = await perform({ ...fgts, stream: { ...UNIFORM, rounds: 25 } });
    expect(short.regret).toEqual(long.regret.slice(0, 25));
  });

  it("measures regret by scores and by scores minus the price of cost", async () => {
    const oracle = await perform(policy("oracle"));
    expect(oracle.regret.at(-1)).toBe(0);
    expect(oracle.agreement).toBe(1);
    expect(oracle.priced.at(-1)).toBeGreaterThan(0);
    const thrifty = await perform({ ...policy("oracle"), lambda: 0.05 });
    expect(thrifty.regret.at(-1)).toBe(0);
    expect(thrifty.priced.at(-1)).toBeCloseTo(0, 12);
    expect(thrifty.cost).toBeLessThan(oracle.cost!);
    const random = await perform({});
    expect(random.regret.at(-1)).toBeGreaterThan(0);
    expect(random.t.at(-1)).toBe(60);
  });

  it("counts the answers in the last third", async () => {
    const { choices } = await perform(policy("best-fixed"));
    const byModel = choices[0]!.map((_, k) => choices.reduce((sum, row) => sum + row[k]!, 0));
    expect(byModel.filter((count) => count > 0)).toEqual([20]);
  });

  it("can be told of some categories only, while all count for regret", async () => {
    const { categoryNames } = (await openDraw(DRAW, await ownContext())).offline;
    // The best model of the nearest of two categories: at most two models ever answer.
    const two = { ...EXCEL, categories: categoryNames.slice(0, 2) };
    const { choices } = await perform({ ...policy("zero-feedback"), told: two });
    expect(choices).toHaveLength(7);
    const chosen = choices.flatMap((row) => [...row.keys()].filter((k) => row[k]! > 0));
    expect(new Set(chosen).size).toBeLessThanOrEqual(2);
  });
});

it("describes the geometry of queries, categories and models", async () => {
  const spec = { draw: DRAW, told: EXCEL, vectors: ["x"], stream: UNIFORM };
  const { value } = await describeVectors(spec, await withVectors());
  const { accuracy, within, across, byCategory, byModel } = value as DescribeValue;
  expect(accuracy).toBeGreaterThan(0.4);
  expect(within).toBeGreaterThan(across);
  byCategory.forEach((row, m) => {
    expect(row[m]).toBeCloseTo(1, 6);
  });
  const vector = await vectorsOf(["x"], await withVectors());
  const draw = await openDraw(DRAW, await ownContext());
  const { embeddings } = calibrationOf(draw.offline, EXCEL, vector);
  const texts = streamedTexts(draw, UNIFORM);
  const own = draw.online.queries.filter(
    ({ text, category }) => category === 2 && texts.includes(text),
  );
  const cosines = own.map(({ text }) => dot(normalized(vector(text)), normalized(embeddings[3]!)));
  expect(byModel[2]![3]).toBeCloseTo(cosines.reduce((a, b) => a + b) / cosines.length, 6);
});

it("in a linear world FGTS.CDB learns: the second half costs less than the first", async () => {
  const spec = {
    models: 4,
    dimension: 8,
    rounds: 400,
    voteScale: 10,
    seed: 1,
    run: 0,
    policy: fgts({ horizon: 400 }),
  };
  const { regret } = (await linear(spec, fgtsCdb, contextOf())).value as RunValue;
  expect(regret.at(-1)! - regret[49]!).toBeLessThan(0.6 * regret[49]!);
});
