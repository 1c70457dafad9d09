/** Names must stay with their numbers, in whatever order the data and the score table have them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checksum } from "../../core/input/checksum.ts";
import type { Context, FileRef, JobId, Result } from "../jobs/job.ts";
import type { ReportItem } from "./experiment.ts";
import { openDraw } from "./jobs/draw.ts";
import KINDS from "./jobs/kinds.ts";
import { contextOf, HASH } from "./jobs/own.fixture.ts";
import { promptsOf } from "./jobs/prompts.ts";
import type { RunSpec } from "./jobs/specs.ts";
import { choicesFigure, geometryFigure } from "./report-items.ts";
import { newPlanner } from "./results.fixture.ts";
import { Results } from "./results.ts";
import { openScores, priceTable, utilityFigure, weightingTable } from "./score-tables.ts";
import { Setting, weighted } from "./setting.ts";

const CATEGORIES = ["algebra", "botany", "chess"];
const MODELS = ["ada", "bob", "cleo"];
/** Every number is different, so that no two can be confused; the best model of each category is another one. */
const PERF: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ada: { algebra: 0.91, botany: 0.22, chess: 0.33 },
  bob: { algebra: 0.14, botany: 0.82, chess: 0.36 },
  cleo: { algebra: 0.17, botany: 0.28, chess: 0.73 },
};
const BEST: Readonly<Record<string, string>> = { algebra: "ada", botany: "bob", chess: "cleo" };

const costOf = (model: string) => 1 + MODELS.indexOf(model);

const folder = mkdtempSync(join(tmpdir(), "joust-names-"));
afterAll(() => rmSync(folder, { recursive: true }));

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, i) =>
    permutations(items.filter((_, j) => j !== i)).map((rest) => [first, ...rest]),
  );
}

/** A data set whose queries come in one order of the categories and whose scores in another. */
async function planned({ inData, inTable, models }: Order) {
  const tag = [...inData, ...inTable, ...models].map((name) => name[0]).join("");
  const paths = new Map<string, string>();
  const file = async (name: string, lines: readonly string[]): Promise<FileRef> => {
    const path = join(folder, `${tag}-${name}`);
    writeFileSync(path, lines.join("\n"));
    const sha256 = await checksum([path]);
    paths.set(sha256, path);
    return { name, sha256 };
  };
  const queries = inData.flatMap((category) =>
    Array.from({ length: 8 }, (_, i) =>
      JSON.stringify({ id: `${category}-${i}`, query: `${category} ${category} ${i}`, category }),
    ),
  );
  const rows = models.flatMap((model) =>
    inTable.map((category) => [model, category, PERF[model]![category], costOf(model)].join(",")),
  );
  const files = [await file("queries.jsonl", queries)];
  const scores = await file("scores.csv", ["model,category,perf,cost", ...rows]);

  const planner = await newPlanner([], { runs: 2, scales: [3] });
  const setting = new Setting(planner, {
    experiment: "routerbench",
    form: tag,
    data: { files, scores },
    offline: 3,
    models: 3,
    queries: 24,
    categories: 3,
    streamOf: (rounds) => ({ rounds, stream: "uniform" }),
  });
  const encoder = { name: "hash", ref: HASH, kind: "hash", dimension: 256, epochs: [] } as const;
  const state = { encoder, epochs: 0, rounds: 60 };
  const curve = setting.curve({
    state,
    group: "baseline",
    voteScale: 3,
    models: weighted("perf"),
    policy: { kind: "oracle", options: {} },
    name: "oracle",
  });
  const told = { models: weighted("perf_cost", { lambda: 0, temperature: 0.01 }) };
  const stream = { rounds: 60, stream: "uniform" } as const;
  const geometry = planner.describe(
    { draw: setting.draw(0), told, vectors: [setting.vectors(state, 0)], stream },
    "geometry",
  );
  return { planner, curve, geometry, scores: paths.get(scores.sha256)!, run: runAll };

  /** Runs all jobs of the plan, one after another. */
  async function runAll() {
    const done: Record<JobId, Result> = {};
    const context: Context = { ...contextOf(done), path: ({ sha256 }) => paths.get(sha256)! };
    for (const { id, kind, spec } of planner.plan.jobs) {
      done[id] = await KINDS[kind]!.run(spec, context);
    }
    const values = new Map(Object.entries(done).map(([id, { value }]) => [id, value]));
    return { results: new Results(planner, values), context };
  }
}

interface Order {
  readonly inData: readonly string[];
  readonly inTable: readonly string[];
  readonly models: readonly string[];
}

const ORDERS: Order[] = permutations(CATEGORIES).flatMap((inData) =>
  permutations(CATEGORIES).flatMap((inTable) =>
    permutations(MODELS).map((models) => ({ inData, inTable, models })),
  ),
);

interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** The texts of a figure with their places. */
function textsOf(svg: string): Label[] {
  return [...svg.matchAll(/<text([^>]*)>([^<]*)/g)].map(([, attributes = "", text = ""]) => {
    const at = (name: string) => Number(attributes.match(new RegExp(` ${name}="([-\\d.]+)"`))?.[1]);
    return { text, x: at("x"), y: at("y") };
  });
}

/** The number at the crossing of a category's row and a model's column. */
function readMap(svg: string): string[][] {
  const texts = textsOf(svg);
  const numbers = texts.filter(({ text }) => /^\d\.\d\d$/.test(text));
  const place = (name: string) => texts.find(({ text }) => text === name)!;
  const nearest = (to: (one: Label) => number) =>
    numbers.reduce((a, b) => (to(b) < to(a) ? b : a)).text;
  return eachOf((row, column) =>
    nearest(({ x, y }) => Math.abs(y - place(row).y) + Math.abs(x - place(column).x)),
  );
}

const svgOf = (item: ReportItem, results: Results) => {
  const drawing = item.draw(results);
  return drawing.kind === "figure" ? drawing.pictures[0]!.body : "";
};
const tableOf = (item: ReportItem, results: Results) => {
  const drawing = item.draw(results);
  if (drawing.kind !== "table") throw new Error("not a table");
  return drawing.table;
};
const HEAD = { id: "a", title: "A", caption: "" };
const eachOf = <T>(value: (category: string, model: string) => T) =>
  CATEGORIES.map((category) => MODELS.map((model) => value(category, model)));

describe("in every order of the data's categories, the table's categories and the models", () => {
  it.each(ORDERS)("figures, tables and prompts: $inData | $inTable | $models", async (order) => {
    const { curve, geometry, run, scores: path } = await planned(order);
    const { results, context } = await run();
    const scores = await openScores(path);

    // The oracle answers with the best model of each category.
    const choices = svgOf(choicesFigure(HEAD, [curve], scores), results);
    expect(choices).toContain(">oracle: rounds 41 to 60, 2 runs<");
    expect(readMap(choices)).toEqual(eachOf((m, k) => (BEST[m] === k ? "1.00" : "0.00")));

    const perf = eachOf((m, k) => PERF[k]![m]!.toFixed(2));
    const utilities = svgOf(utilityFigure(scores), results);
    expect(readMap(utilities)).toEqual(perf);

    // With so low a temperature a_k is the mean of the queries of the category that k is best in.
    const cosines = svgOf(
      geometryFigure(HEAD, "byModel", [{ title: "t", job: geometry }]),
      results,
    );
    for (const [m, row] of readMap(cosines).entries()) {
      const largest = row.indexOf(row.toSorted().at(-1)!);
      expect(MODELS[largest]).toBe(BEST[CATEGORIES[m]!]);
    }

    // With the scores, rows and columns have their order, and each cosine keeps its place by name.
    const jobs = [{ title: "t", job: geometry }];
    const ordered = svgOf(geometryFigure(HEAD, "byModel", jobs, scores), results);
    expect(readMap(ordered)).toEqual(readMap(cosines));
    const [rows, columns] = [scores.categories, scores.models].map((names) =>
      textsOf(ordered).flatMap(({ text }) => (names.includes(text) ? text : [])),
    );
    expect({ rows, columns }).toEqual({ rows: scores.categories, columns: scores.models });

    for (const item of [priceTable(scores), weightingTable(scores)]) {
      const { columns, rows } = tableOf(item, results);
      for (const [model, ...cells] of rows) {
        for (const category of CATEGORIES) {
          const at = columns.findIndex(({ key }) => key.startsWith(`${category}_`));
          const cost = item.id === "table-weighting" ? 0.05 * costOf(String(model)) : 0;
          expect(Number(cells[at - 1])).toBeCloseTo(PERF[String(model)]![category]! - cost, 9);
        }
      }
    }

    const { draw } = results.planner.plan.find(curve.runs[0]!).spec as RunSpec;
    const { offline } = await openDraw(draw, context);
    const prompts = promptsOf(offline, { listing: "model", examples: 1 });
    for (const [k, prompt] of prompts.entries()) {
      const model = offline.models[k]!;
      const category = CATEGORIES.find((one) => BEST[one] === model)!;
      expect(prompt).toContain(`This is ${model}, `);
      expect(prompt).toContain(`performance score of ${PERF[model]![category]!.toFixed(3)} `);
      expect(prompt).toMatch(
        new RegExp(`strength in ${category} type questions\\..*: ${category} `),
      );
    }
  });
});
