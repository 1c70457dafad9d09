import { describe, expect, test } from "vitest";
import { Random } from "../../core/random/random.ts";
import { meanInterval } from "../../core/statistics.ts";
import { toCsv } from "../report/table.ts";
import type { PolicyResult } from "./result.ts";
import { compare, pairedTable, ranked, resultTable } from "./result-table.ts";
import { sampleResult, TWENTY } from "./sample.case.ts";
import { summaryOf } from "./summary.ts";

const random = Random.seeded(1);
const twenty = sampleResult({ regrets: TWENTY }, random);

describe("tables of a result", () => {
  test("one row per policy sorted by regret, the best one except the oracle in bold", () => {
    const table = resultTable(twenty);
    expect(table.rows.length).toBe(20);
    expect(table.rows[0]![0]).toBe("oracle");
    expect(table.rows[table.best!]![0]).toBe("joust");
    const means = ranked(twenty).map(({ regret }) => regret.mean);
    expect(means).toEqual(means.toSorted((a, b) => a - b));
  });

  test("times may be left off", () => {
    expect(toCsv(resultTable(twenty))).toContain("decision_p50_us");
    expect(toCsv(resultTable(twenty, false))).not.toContain("_us");
  });

  test("no cost column without costs", () => {
    const free = sampleResult({ regrets: { joust: 1 }, costs: false }, random);
    expect(toCsv(resultTable(free))).not.toContain("cost");
    expect(toCsv(resultTable(twenty))).toContain("cost_per_query");
  });

  test("every pair once, the better first; `only` keeps p as corrected for all", () => {
    const all = pairedTable(twenty);
    expect(all.rows.length).toBe(190);
    const some = pairedTable(twenty, "joust");
    expect(some.rows.length).toBe(19);
    for (const row of some.rows) expect(all.rows).toContainEqual(row);
  });

  test("different numbers of runs are not paired", () => {
    const [a, b] = ranked(sampleResult({ regrets: { a: 1, b: 2 }, runs: 3 }, random));
    const short = { ...b!, regret: { ...b!.regret, runs: [1] } };
    expect(compare(a!, short)).toBeNull();
    expect(compare(a!, b!)!.mean).toBeCloseTo(a!.regret.mean - b!.regret.mean, 12);
  });
});

describe("summary", () => {
  test("names the two best policies and says that the interval excludes 0", () => {
    expect(summaryOf(twenty)).toMatch(
      /^Over 20 runs of 720 rounds, joust has the lowest mean regret, the oracle aside: .*runner-up, zero-feedback; .*excludes 0\.$/,
    );
  });

  test("says that means are equal, for any number of policies", () => {
    const { schema, settings, policies } = sampleResult({ regrets: { a: 10, z: 90 } }, random);
    const { a, z } = policies as { a: PolicyResult; z: PolicyResult };
    const of = (entries: Record<string, PolicyResult>) =>
      summaryOf({ schema, settings, policies: entries });
    expect(of({ a, b: a, z })).toMatch(
      /rounds, a and b have the same mean regret, [\d.]+, the lowest\.$/,
    );
    expect(of({ a, b: a, oracle: a, c: a, z })).toMatch(
      /, a and 2 others \(b, c\) have the same mean regret, [\d.]+, the lowest, the oracle aside\.$/,
    );
  });

  test("a lead that rounds to 0 is put into words", () => {
    const { schema, settings, policies } = sampleResult({ regrets: { a: 10 } }, random);
    const a = policies.a!;
    const runs = a.regret.runs.map((regret, i) => regret + (i % 2 ? 1e-3 : -0.9e-3));
    const b = { ...a, regret: { ...meanInterval(runs), runs } };
    const text = summaryOf({ schema, settings, policies: { a, b } });
    expect(text).toContain("hardly less than the runner-up, b");
    expect(text).toContain("includes 0, so the two cannot be told apart");
  });

  test("warns of few runs or rounds, whatever the interval", () => {
    const of = (runs: number, rounds: number) =>
      summaryOf(sampleResult({ regrets: { a: 10, b: 90 }, runs, rounds }, random));
    expect(of(5, 30)).toMatch(/excludes 0\.$/);
    expect(of(4, 100)).toMatch(/excludes 0\. This rests on 4 runs only: take 5 runs of 30 rounds/);
    expect(of(20, 29)).toContain("This rests on 29 rounds only");
    expect(of(1, 1)).toMatch(/^Over one run of 1 round, .* This rests on 1 run of 1 round only/);
  });

  test("one run, one policy, none", () => {
    const one = sampleResult({ regrets: { a: 10, b: 30 }, runs: 1 }, random);
    expect(summaryOf(one)).toContain("Over one run of 720 rounds");
    expect(summaryOf(one)).toContain("one run has no interval");
    expect(summaryOf(sampleResult({ regrets: { a: 10 } }, random))).toContain(
      "a has a mean regret",
    );
    expect(summaryOf({ schema: 1, settings: {}, policies: {} })).toContain("Nothing was simulated");
  });
});
