import { describe, expect, it } from "vitest";
import { errorText } from "../src/core/errors/error-text.fixture.ts";
import suite from "../src/lab/experiments/index.ts";
import { methodTables } from "../src/lab/reproduce/curve-methods.ts";
import { curvesNamed, plan } from "../src/lab/reproduce/reproduce.ts";
import { MINILM, newPlanner, STATIC } from "../src/lab/reproduce/results.fixture.ts";

const NAMES = suite.experiments.map(({ name }) => name);
const { data, size } = await newPlanner();
const full = await plan(suite, NAMES, {
  data,
  encoders: { here: [MINILM, STATIC], absent: [] },
  size: { ...size, quick: false, runs: 2, scales: [1, 3, 10], long: 3000, short: 720 },
  seed: 1,
});

describe("the method of a curve", () => {
  const tables = methodTables(full.planner, "unseen");
  const row = (name: string) =>
    tables.flatMap(({ rows }) => rows.filter(([own]) => own === name))[0]!.join(" | ");

  it("names queries, vectors, model embeddings and policy", () => {
    expect(tables[0]!.title).toMatch(
      /^queries.jsonl .*; 15 offline queries per category, 90 in all; .* then .*54 arc-challenge; all models but gpt-4; utility: Perf of .* Vote scale 1, 3, 10.$/,
    );
    const ideal = row("MiniLM_E4_Excel_mask_ideal");
    expect(ideal).toContain(
      "MiniLM fine-tuned for 4 epochs on the run's offline queries, 15 per category |",
    );
    expect(ideal).toMatch(/eq. 5, tau 3, lambda 0.05 \| fgts-cdb eta=10 sd=1$/);
    expect(row("MiniLM_5")).toContain(
      "the original MiniLM | prompt of listing 3, 5 example queries",
    );
    const exp = row("MiniLM_E4_Excel_mask_exp");
    expect(exp).toContain("on the run's offline queries, 15 for each of mmlu, mbpp, hellaswag");
    expect(exp).toContain("told only of mmlu, mbpp, hellaswag");
    expect(row("best-fixed")).toBe("best-fixed | own | not used | none | best-fixed");
    expect(row("joust on MiniLM_E4")).toMatch(
      /fine-tuned .* \| none: .* told scores, told only of mmlu/,
    );
  });

  it("names the length, the stand-in and the source of votes", () => {
    const titles = (name: string, options = {}) =>
      methodTables(full.planner, name, options).map(({ title }) => title);
    expect(titles("routerbench").join()).toContain(
      "35 in all; 3000 rounds, the first 720 of which are the curve at T = 720,",
    );
    expect(titles("mmlu", { roundsOf: () => 595 })[0]).toContain(
      "every other query once, T = 595;",
    );
    for (const title of titles("mixinstruct", { standIn: "other prompts" })) {
      expect(title).toMatch(/^a stand-in \(other prompts\); .* Votes are the stored verdicts /);
    }
  });

  it("is listed for every curve of every experiment, once for all vote scales", () => {
    const byExperiment = NAMES.map((name) => methodTables(full.planner, name));
    for (const tables of byExperiment) {
      const listed = tables.flatMap(({ title, rows }) =>
        rows.map((cells) => [title, ...cells].join("|")),
      );
      expect(new Set(listed).size).toBe(listed.length);
    }
    const all = byExperiment.flat();
    const names = new Set(all.flatMap(({ rows }) => rows.map(([name]) => String(name))));
    const found = new Set([...names].flatMap((name) => curvesNamed(full, name)));
    for (const curve of full.planner.curves) expect(found.has(curve), curve.name).toBe(true);
  });

  it("can be run again by the name of the curve", () => {
    const name = "MiniLM_E4_Excel_mask_exp";
    const curves = curvesNamed(full, name);
    expect(new Set(curves.map(({ experiment }) => experiment))).toEqual(
      new Set(["routerbench", "convergence", "unseen"]),
    );
    const { jobs } = full.planner.plan.only(curves.flatMap(({ runs }) => runs));
    expect(jobs.length).toBeLessThan(full.planner.plan.jobs.length / 10);
    const planned = new Set(jobs.map(({ id }) => id));
    for (const { needs } of jobs) for (const need of needs) expect(planned).toContain(need);
    expect(() => curvesNamed(full, "MiniLM_E4_Excel_mask_esp")).toThrow(
      errorText(`did you mean "${name}"`),
    );
    const absent = [{ name: "e5b", reason: "joust models get e5b" }];
    expect(() => curvesNamed(full, "e5b_E4_Excel_mask_exp", absent)).toThrow(
      errorText(/because e5b was not run; hint: joust models get e5b/),
    );
  });

  it("of a baseline is found by the vectors that it uses", () => {
    const own = curvesNamed(full, "joust on static_E10");
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThan(curvesNamed(full, "joust").length);
    for (const { encoder, epochs } of own) expect([encoder, epochs]).toEqual(["static", 10]);
  });
});
