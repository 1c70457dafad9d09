import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import suite from "../src/lab/experiments/index.ts";
import type { PlannedJob } from "../src/lab/jobs/plan.ts";
import { evidenceOf } from "../src/lab/reproduce/claims-report.ts";
import { BASELINES } from "../src/lab/reproduce/curve.ts";
import type { DataSpec, ExamplesSpec, FitSpec, RunSpec } from "../src/lab/reproduce/jobs/specs.ts";
import type { Planner } from "../src/lab/reproduce/planner.ts";
import { recordOf } from "../src/lab/reproduce/record.ts";
import { plan } from "../src/lab/reproduce/reproduce.ts";
import {
  inventedResults,
  MINILM,
  newPlanner,
  STATIC,
} from "../src/lab/reproduce/results.fixture.ts";
import { writeReport } from "../src/lab/reproduce/write-report.ts";

const NAMES = suite.experiments.map(({ name }) => name);
const { data } = await newPlanner();
const planned = (size = {}) =>
  newPlanner().then(({ size: quick }) =>
    plan(suite, NAMES, {
      data,
      encoders: { here: [MINILM, STATIC], absent: [] },
      size: { ...quick, ...size },
      seed: 1,
    }),
  );
const full = await planned({ quick: false, runs: 2, scales: [1, 3, 10], long: 3000, short: 720 });

function jobsOf<Spec>({ plan }: Planner, kind: string): (PlannedJob & { spec: Spec })[] {
  return plan.jobs.filter((job) => job.kind === kind) as (PlannedJob & { spec: Spec })[];
}

describe("the experiments", () => {
  it("have the paper's curves by the paper's names", () => {
    const names = new Set(full.planner.curves.map(({ name }) => name));
    for (const weighting of ["Perf", "Perf_cost", "Excel_perf_cost", "Excel_mask"]) {
      for (const epochs of [2, 4]) {
        for (const group of ["exp", "ctrl"])
          expect(names).toContain(`MiniLM_E${epochs}_${weighting}_${group}`);
      }
    }
    for (const name of [
      "MiniLM_1",
      "MiniLM_3",
      "MiniLM_5",
      "MiniLM_mean",
      "MiniLM_prompt",
      "MiniLM_E4_mean",
    ]) {
      expect(names).toContain(name);
    }
    for (const name of ["MiniLM_E4_Excel_mask_ideal", "MiniLM_E4_Labels_exp_8", "MiniLM_5_15"]) {
      expect(names).toContain(name);
    }
  });

  it("have random, best-fixed, zero-feedback and joust beside every curve", () => {
    const worlds = new Map<string, Set<string>>();
    for (const { experiment, form, voteScale, variant, policy } of full.planner.curves) {
      if (variant !== "" || experiment === "linear") continue;
      const key = [experiment, form, voteScale].join();
      worlds.set(key, (worlds.get(key) ?? new Set()).add(policy));
    }
    expect(worlds.size).toBeGreaterThan(8);
    for (const policies of worlds.values()) {
      for (const policy of ["random", "best-fixed", "zero-feedback", "joust"])
        expect(policies).toContain(policy);
    }
  });

  it("are drawn with a different name for each curve of a panel, and its regret at the end", () => {
    const results = inventedResults(full.planner);
    const items = full.parts.flatMap((part) => part.items);
    let panels = 0;
    for (const item of items) {
      const drawing = item.draw(results);
      if (drawing.kind !== "figure") continue;
      for (const { title, body } of drawing.pictures) {
        const names = [...body.matchAll(/>([^<>]+) \d+\.\d( \u2191)?</g)].map(([, name]) => name);
        expect(new Set(names).size, `${item.id}, ${title}: ${names.join("; ")}`).toBe(names.length);
        if (names.length > 0) panels++;
      }
    }
    expect(panels).toBeGreaterThan(100);
  });

  it("run both lengths and all vote scales on RouterBench", () => {
    const runs = jobsOf<RunSpec>(full.planner, "run").filter(({ label }) =>
      label.startsWith("routerbench"),
    );
    expect(new Set(runs.map(({ spec }) => spec.stream.rounds))).toEqual(new Set([720, 3000]));
    expect(new Set(runs.map(({ spec }) => spec.voteScale))).toEqual(new Set([1, 3, 10]));
  });

  it("use 5, 15, 10 and 10 offline queries per category, and fine-tune on the known categories", () => {
    const fits = jobsOf<FitSpec>(full.planner, "fit").filter(({ label }) =>
      label.includes("MiniLM"),
    );
    const of = (experiment: string) =>
      fits
        .filter(({ label }) => label.includes(`, ${experiment} `))
        .map(({ spec }) => full.planner.plan.find(spec.examples).spec as ExamplesSpec);
    expect(new Set(of("routerbench").map(({ draw }) => draw.offline))).toEqual(new Set([5]));
    // 5 for the claim that few suffice.
    expect(new Set(of("unseen").map(({ draw }) => draw.offline))).toEqual(new Set([15, 5]));
    for (const name of ["mmlu", "mixinstruct"]) {
      expect(new Set(of(name).map(({ draw }) => draw.offline))).toEqual(new Set([10]));
    }
    // exp knows five benchmarks, ideal all six.
    const told = of("unseen").map(({ categories }) => categories?.length);
    expect(new Set(told)).toEqual(new Set([5, undefined]));
    for (const { categories } of of("unseen"))
      expect(categories ?? []).not.toContain("arc-challenge");
  });

  it("unseen: 300 queries, then 420 with 120 of ARC, in the same proportion here", () => {
    const runs = jobsOf<RunSpec>(full.planner, "run").filter(
      ({ label, spec }) => label.startsWith("unseen") && !spec.draw.change,
    );
    for (const { spec } of runs) {
      expect(spec.stream.stream).toEqual([
        { mmlu: 27, mbpp: 27, hellaswag: 27, winogrande: 27, gsm8k: 27 },
        { mmlu: 27, mbpp: 27, hellaswag: 27, winogrande: 27, gsm8k: 27, "arc-challenge": 54 },
      ]);
      const { categories } = full.planner.plan.find(spec.draw.data).spec as DataSpec;
      expect(categories).not.toContain("mt-bench");
    }
  });

  it("fine-tune once for all weightings and vote scales, and once for both drops", () => {
    const fits = jobsOf<FitSpec>(full.planner, "fit").filter(
      ({ spec }) => spec.encoder.name === "MiniLM",
    );
    const counts = Map.groupBy(fits, ({ label }) => label.replace(/.*, (\w+) \(.*/, "$1"));
    // Fits per run, times runs: mmlu and routerbench 2 (E2, E4) times 2; unseen 3 (exp, ideal,
    // ideal on fewer queries) times 2; mixinstruct 1 times 2; settings 2 (data sets) times 4.
    expect([...counts].map(([name, own]) => [name, own.length])).toEqual([
      ["mmlu", 4],
      ["routerbench", 4],
      ["unseen", 6],
      ["mixinstruct", 2],
      ["settings", 8],
    ]);
  });

  it("control groups are the same runs for all epochs of the curves beside them", () => {
    const ctrl = full.planner.curves.filter(
      ({ name, variant, voteScale }) =>
        /^MiniLM_E\d_Perf_ctrl$/.test(name) && variant === "" && voteScale === 3,
    );
    expect(ctrl.map(({ epochs }) => epochs)).toEqual([2, 4]);
    expect(ctrl[0]!.runs).toEqual(ctrl[1]!.runs);
  });

  it("convergence: more runs of the curves of RouterBench", async () => {
    const { planner } = await planned({ quick: false, runs: 2, runsOf: { convergence: 3 } });
    const curves = planner.curves.filter((curve) => curve.experiment === "convergence");
    expect(curves.filter(({ group }) => group === "exp")).toHaveLength(4);
    for (const { runs, policy, ...head } of curves.filter(({ runs }) => runs.length === 3)) {
      const { name, variant, voteScale } = head;
      const same = planner.curves.filter(
        (one) =>
          one.experiment === "routerbench" &&
          [one.name, one.variant, one.voteScale].join() === [name, variant, voteScale].join(),
      );
      expect(
        same.map((one) => one.runs),
        `${policy} ${variant}`,
      ).toContainEqual(runs.slice(0, 2));
    }
  });

  it("figures and tables have distinct ids", () => {
    const ids = full.parts.flatMap(({ items }) => items.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ["table-weighting", "table-perf-cost", "radar", "mmlu-tsne"])
      expect(ids).toContain(id);
  });

  it("show every claim that names a figure or table", () => {
    const ids = full.parts.flatMap(({ items }) => items.map(({ id }) => id));
    for (const { id, shownBy = /./ } of suite.claims)
      expect(ids.filter((one) => shownBy.test(one)).length, `claim ${id}`).toBeGreaterThan(0);
  });

  it("without their data report what is missing", async () => {
    const missing = { missing: "no data" };
    const bare = { ...data, mmlu: missing, routerbench: missing, mixinstruct: missing };
    const { size } = await newPlanner();
    const encoders = { here: [STATIC], absent: [] };
    const { parts, planner } = await plan(suite, NAMES, {
      data: bare,
      encoders,
      size,
      seed: 1,
    });
    expect(planner.plan.jobs).toEqual([]);
    for (const { notes, items } of parts) expect([notes, items]).toEqual([["no data"], []]);
  });
});

describe("results of every job", () => {
  const results = inventedResults(full.planner);

  it("are sufficient for all figures and tables, and every plot has its baselines", () => {
    for (const { items } of full.parts) {
      for (const item of items) {
        const drawing = item.draw(results);
        const text =
          drawing.kind === "figure"
            ? drawing.pictures.map(({ body }) => body).join("")
            : JSON.stringify(drawing.table);
        expect(text, item.id).not.toMatch(/NaN|Infinity|undefined/);
        if (!text.includes("Cumulative regret")) continue;
        for (const name of BASELINES)
          expect(text, item.id).toMatch(new RegExp(`>${name} [\\d.]+( \u2191)?<`));
      }
    }
  });

  it("make a report of less than 2 MB whose panels have at most six curves, each with a label", async () => {
    const folder = mkdtempSync(join(tmpdir(), "joust-report-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const judged = suite.claims.map((claim) => ({ claim, ...claim.test(results) }));
    const reproduced = { ...full, results, judged };
    const encoders = { here: [MINILM, STATIC], absent: [] };
    const record = recordOf(reproduced, { command: "joust reproduce all", encoders, version: "1" });
    await writeReport(folder, reproduced, record);
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(Buffer.byteLength(page)).toBeLessThan(2e6);
    const panels = page.match(/<svg(?:(?!<\/svg>).)*Cumulative regret.*?<\/svg>/gs)!;
    expect(panels.length).toBeGreaterThan(100);
    for (const panel of panels) {
      const lines = panel.match(/fill="none" stroke="currentColor" stroke-width="[\d.]+"/g)!.length;
      const circles = panel.match(/<circle/g)?.length ?? 0;
      expect(lines).toBeLessThanOrEqual(6);
      expect(panel.match(/class="label"/g)).toHaveLength(lines + circles);
    }
    // The opening, the contents and the claims come in this order.
    const order = ['class="opening"', "<nav", 'id="claim-1"', 'id="reading"'];
    const places = order.map((text) => page.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(
      page.match(/<section class="opening"><ol class="summary">(.*?)<\/ol>/)![1]!.split("<li>"),
    ).toHaveLength(4);
  });

  it("are sufficient for the claims, with each cell once", () => {
    for (const { id, test } of suite.claims) {
      const finding = test(results);
      const cells = finding.parts.flatMap((part) => part.cells);
      expect(evidenceOf(finding), `claim ${id}`).not.toMatch(/NaN|Infinity|undefined/);
      const labels = cells.map(({ label }) => label);
      expect(labels.length, `claim ${id}`).toBe(new Set(labels).size);
      // The paper's encoders decide.
      for (const label of labels) expect(label).not.toMatch(/^static/);
    }
  });
});
