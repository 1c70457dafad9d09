import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { SETTINGS } from "../../lab/simulate/settings.ts";
import { SCORED, TABLED } from "../../lab/simulate/world.fixture.ts";
import { readTold, readTruth, readVoters, settingsOf } from "./settings.ts";

describe("settings for a data set", () => {
  it("stream every query once by default, at most 1000", () => {
    expect(settingsOf({}, TABLED).rounds).toBe(10 - 3 - 2);
    expect(settingsOf({ offline: 1 }, TABLED).rounds).toBe(8);
    const queries = Array.from({ length: 3000 }, () => TABLED.queries[0]!);
    expect(settingsOf({}, { ...TABLED, queries }).rounds).toBe(1000);
    expect(settingsOf({ rounds: 7 }, { ...TABLED, queries }).rounds).toBe(7);
  });

  it("tell the table by default, otherwise means over the offline queries", () => {
    expect(settingsOf({}, TABLED).told).toEqual({ kind: "scores" });
    expect(settingsOf({}, SCORED).told).toEqual({ kind: "offline" });
  });

  it("are those of SETTINGS for options that are not given", () => {
    const { rounds } = SETTINGS;
    expect(settingsOf({ rounds, offline: 3 }, TABLED)).toEqual({ ...SETTINGS, offline: 3 });
  });

  it("have at most half of the largest category as offline queries", () => {
    expect(settingsOf({ offline: 2 }, TABLED).offline).toBe(2);
    expect(settingsOf({ offline: 50 }, TABLED).offline).toBe(3);
  });

  const free: Dataset = {
    ...SCORED,
    queries: SCORED.queries.map(({ costs, ...query }) => query),
  };
  it.each<[string, () => unknown, string]>([
    [
      "told scores without a table",
      () => settingsOf({ told: { kind: "scores" } }, SCORED),
      "--told",
    ],
    ["noise on the scores of queries", () => settingsOf({ truth: 0.1 }, SCORED), "--truth"],
    ["a weight of unknown costs", () => settingsOf({ lambda: 1 }, free), "--lambda"],
    ["votes that never arrive", () => settingsOf({ delay: 5 }, TABLED), "no vote arrives within 5"],
    [
      "votes that never arrive in one round",
      () => settingsOf({ delay: 1, rounds: 1 }, TABLED),
      "within 1 round",
    ],
    [
      "categories of one query each",
      () => settingsOf({}, { ...SCORED, queries: [SCORED.queries[0]!, SCORED.queries[9]!] }),
      "DATA: has no query to stream",
    ],
  ])("refuses %s", (_, read, message) => {
    expect(read).toThrow(InputError);
    expect(read).toThrow(errorText(message));
  });
});

describe("settings for a bundle", () => {
  const at = (...numbers: number[]) => Float64Array.from(numbers);
  const bundled: Dataset = {
    ...TABLED,
    calibration: {
      categories: ["x", "z"],
      centroids: [at(1), at(2)],
      sizes: [2, 1],
      scores: TABLED.scores!.perf,
      embeddings: [at(1), at(2), at(3)],
      weighting: { weighting: "perf", tau: 3, lambda: 0.05, temperature: 1 },
      offline: [[0, 1], []],
    },
  };

  it("tell its scores and leave out its queries by default", () => {
    const settings = settingsOf({}, bundled);
    expect(settings).toMatchObject({ told: { kind: "bundle" }, rounds: 8, offline: 2 });
    expect(settingsOf({ told: { kind: "none" } }, bundled).told).toEqual({ kind: "none" });
  });

  it.each<[string, Parameters<typeof settingsOf>, string]>([
    [
      "another number of offline queries",
      [{ offline: 3 }, bundled],
      "--offline: is fixed by the bundle",
    ],
    ["a bundle's scores without one", [{ told: { kind: "bundle" } }, TABLED], "--encoder BUNDLE"],
    [
      "a table without a category",
      [{ told: { kind: "scores" } }, bundled],
      "the data has no query of the bundle's categories z; hint: remove it",
    ],
    [
      "means over no query",
      [{ told: { kind: "offline" } }, bundled],
      "no offline query of the bundle's categories z",
    ],
    [
      "data that the bundle was fitted on completely",
      [{}, { ...bundled, queries: bundled.queries.slice(0, 2) }],
      "the bundle was fitted on all of them; hint: give other data",
    ],
    ["a price without costs", [{ lambda: 1 }, bundled], "--lambda: needs costs, but the bundle"],
  ])("refuse %s", (_, args, message) => {
    expect(() => settingsOf(...args)).toThrow(InputError);
    expect(() => settingsOf(...args)).toThrow(errorText(message));
  });
});

it("reads --told and --truth", () => {
  expect(readTold("permuted")).toEqual({ kind: "permuted" });
  expect(readTold("noisy:0.25")).toEqual({ kind: "noisy", sd: 0.25 });
  expect(readTruth("noisy:0.1")).toBe(0.1);
});

it("reads --voters, with 20 voters if no count is given", () => {
  const { voters } = SETTINGS;
  expect(readVoters("noisy=0.1")).toEqual({ ...voters, count: 20, noisy: 0.1 });
  expect(readVoters("count=4, malicious=0.25,position=-0.5,bothBad=0.3")).toEqual({
    count: 4,
    noisy: 0,
    malicious: 0.25,
    position: -0.5,
    bothBad: 0.3,
  });
});

it.each([
  [readTold, "nosy:1", 'did you mean "noisy"?'],
  [readTold, "noisy", "noisy has no SD; hint: write --told noisy:0.1"],
  [
    readTold,
    "noisy:-1",
    "--told noisy:-1: is -1, below 0; hint: give a number from 0, for example --told noisy:0.1",
  ],
  [readTruth, "exact", '"exact" is not noisy:SD; hint: write --truth noisy:0.1'],
  [readVoters, "noise=1", 'did you mean "noisy"?'],
  [readVoters, "count", '--voters count: is "", not a number'],
  [
    readVoters,
    "count=0",
    "--voters count: is 0, below 1; hint: give a whole number from 1 to 1000000, for example --voters count=20",
  ],
  [readVoters, "noisy=0.6,malicious=0.6", "sum to more than 1"],
  [
    readVoters,
    "count=3,noisy=0.1",
    "the share noisy of 3 voters is less than one voter; hint: raise count to 10",
  ],
  [readVoters, "count=2,noisy=0.5,malicious=0.1", "the share malicious of 2 voters"],
])("%o refuses %s", (read, text, message) => {
  expect(() => read(text)).toThrow(InputError);
  expect(() => read(text)).toThrow(errorText(message));
});
