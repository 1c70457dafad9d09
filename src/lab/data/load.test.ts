import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { CSV, jsonl, refused } from "./load.fixture.ts";
import { type LoadOptions, loadDataset } from "./load.ts";

const write = temporaryFolder();

describe("formats", () => {
  it("queries with a csv: categories are ordered as in the queries, not as in the table", async () => {
    const data = write(
      "queries.jsonl",
      jsonl(
        { id: "a", query: "two and two?", category: "GSM8K" },
        { id: 7, query: "why?", benchmark: "mmlu" },
        { query: "no id", category: "gsm8k" },
      ),
    );
    const scores = write("scores.csv", `${CSV}x,unused,0,0\n`);
    expect(await loadDataset(data, { scores })).toEqual({
      models: ["x", "y"],
      categories: ["gsm8k", "mmlu"],
      queries: [
        { id: "a", text: "two and two?", category: 0 },
        { id: "7", text: "why?", category: 1 },
        { id: "line-3", text: "no id", category: 0 },
      ],
      scores: {
        perf: [Float64Array.of(0.25, 0.5), Float64Array.of(1, 0.75)],
        cost: [Float64Array.of(2, 1), Float64Array.of(0, 3)],
      },
    });
  });

  it("outcomes: each query has its own scores and costs, and models are ordered as in the first row", async () => {
    const data = write(
      "outcomes.jsonl",
      jsonl(
        { id: "a", query: "q", scores: { x: 1, y: 0.5 }, costs: { x: 2, y: 0 } },
        { id: "b", query: "r", scores: { y: 0, x: 0.25 }, costs: { y: 1, x: 3 } },
      ),
    );
    expect(await loadDataset(data)).toEqual({
      models: ["x", "y"],
      categories: [],
      queries: [
        { id: "a", text: "q", category: -1, scores: f(1, 0.5), costs: f(2, 0) },
        { id: "b", text: "r", category: -1, scores: f(0.25, 0), costs: f(3, 1) },
      ],
    });
  });

  it("outcomes with a csv: utilities come from each query, told scores from the table", async () => {
    const data = write(
      "both.jsonl",
      jsonl({ query: "q", category: "mmlu", scores: { y: 0.1, x: 0.2 } }),
    );
    const loaded = await loadDataset(data, { scores: write("scores.csv", CSV) });
    expect(loaded.models).toEqual(["y", "x"]);
    expect(loaded.queries[0]!.scores).toEqual(f(0.1, 0.2));
    expect(loaded.scores!.perf).toEqual([f(0.75), f(0.5)]);
  });

  it("LLMRouter: task is the category", async () => {
    const data = write(
      "llmrouter.jsonl",
      jsonl(
        { task: "arc_challenge", metric: "em", query: "q", scores: { x: 1, y: 0 } },
        { task: "natural_qa", metric: "em", query: "r", scores: { x: 0, y: 1 } },
      ),
    );
    const loaded = await loadDataset(data);
    expect(loaded.categories).toEqual(["arc-challenge", "natural_qa"]);
    expect(loaded.queries.map(({ id }) => id)).toEqual(["line-1", "line-2"]);
  });

  const verdicts = [
    { a: 0, b: 1, outcome: "a" },
    { a: 1, b: 2, outcome: "tie" },
    { a: 2, b: 0, outcome: "both_bad" },
  ];

  it("comparisons, pairwise and MixInstruct give the same data set", async () => {
    const plain = write(
      "comparisons.jsonl",
      jsonl({
        id: "a",
        query: "why?\nbecause",
        comparisons: [
          { a: "x", b: "y", outcome: "a" },
          { a: "y", b: "z", outcome: "tie" },
          { a: "z", b: "x", outcome: "both_bad" },
        ],
      }),
    );
    const pairwise = write(
      "pairwise.jsonl",
      jsonl({
        id: "a",
        conversation: "### Human: hi ### Assistant: yes? ### Human: why?\nbecause ### Assistant:",
        cmp: { "x,y": 1, "y,z": 3, "z,x": 3 },
      }),
    );
    const mixinstruct = write(
      "mixinstruct.jsonl",
      jsonl(
        { id: "never compared", instruction: "?", input: "", cmp_results: null },
        {
          id: "a",
          instruction: "why?",
          input: "because",
          cmp_results: '{"x,y": "A is better", "y,z": "same good", "z,x": "same bad"}',
        },
      ),
    );
    const expected = {
      models: ["x", "y", "z"],
      categories: [],
      queries: [
        {
          id: "a",
          text: "why?\nbecause",
          category: -1,
          comparisons: verdicts,
          // (1 + 0.5) / 2, 0.5 / 2, (0.5 + 0.5) / 2, each over the largest
          scores: f(1, 1 / 3, 2 / 3),
        },
      ],
    };
    expect(await loadDataset(plain)).toEqual(expected);
    expect(await loadDataset(mixinstruct)).toEqual(expected);
    const tied = verdicts.map((v) => (v.outcome === "both_bad" ? { ...v, outcome: "tie" } : v));
    expect(await loadDataset(pairwise)).toEqual({
      ...expected,
      queries: [{ ...expected.queries[0], comparisons: tied }],
    });
  });

  it("Arena votes: equal prompts are one query; a model without a vote on a query gets its mean score", async () => {
    const turns = (text: string) => [
      { role: "user", content: "earlier" },
      { role: "assistant", content: "yes" },
      { role: "user", content: text },
    ];
    const data = write(
      "arena.jsonl",
      jsonl(
        { question_id: "p", model_a: "x", model_b: "y", winner: "model_b", prompt: "hi" },
        {
          question_id: "q",
          model_a: "y",
          model_b: "z",
          winner: "tie (bothbad)",
          conversation_a: turns("why?"),
        },
        {
          question_id: "r",
          model_a: "z",
          model_b: "x",
          winner: "model_a",
          conversation_a: turns("hi"),
        },
        {
          question_id: "s",
          model_a: "x",
          model_b: "y",
          winner: "tie",
          conversation_a: [{ role: "user", content: [{ type: "text", text: "so?" }] }],
        },
      ),
    );
    const { models, queries } = await loadDataset(data);
    expect(models).toEqual(["x", "y", "z"]);
    expect(queries.map(({ id, text }) => [id, text])).toEqual([
      ["p", "hi"],
      ["q", "why?"],
      ["s", "so?"],
    ]);
    expect(queries.map(({ comparisons }) => comparisons!.length)).toEqual([2, 1, 1]);
    // The scores of x are 0 and 1, so it gets 0.5 where it has no vote. Those of z are 1 and 1.
    expect(queries.map(({ scores }) => scores)).toEqual([f(0, 1, 1), f(0.5, 1, 1), f(1, 1, 1)]);
  });

  it("exported votes: equal prompts are one query, a ranking is its pairs; ratings and votes without text are left out", async () => {
    const at = "2026-11-15T12:00:00Z";
    const data = write(
      "votes.jsonl",
      jsonl(
        { at, query: "hi", a: "x", b: "y", outcome: "b", voter: "ann", weight: 0.5 },
        { at, x: [1, 0], encoder: "static@0", a: "x", b: "y", outcome: "a" },
        { at, query: "so?", model: "x", rating: 1 },
        { at, query: "why?", ranking: ["z", "x", "y"] },
        { at, query: "hi", a: "y", b: "z", outcome: "both_bad" },
      ),
    );
    const { models, categories, queries } = await loadDataset(data);
    expect([models, categories]).toEqual([["x", "y", "z"], []]);
    expect(queries.map(({ id, text, comparisons }) => ({ id, text, comparisons }))).toEqual([
      {
        id: "line-1",
        text: "hi",
        comparisons: [
          { a: 0, b: 1, outcome: "b" },
          { a: 1, b: 2, outcome: "both_bad" },
        ],
      },
      {
        id: "line-4",
        text: "why?",
        comparisons: [
          { a: 2, b: 0, outcome: "a" },
          { a: 2, b: 1, outcome: "a" },
          { a: 0, b: 1, outcome: "a" },
        ],
      },
    ]);
  });

  it("MMLU: a file with a header, and folders of files without headers, of which val is left out", async () => {
    const row = '"Which, if any?",one,"two, or\nmore",3,4,B\n';
    const text = "Which, if any?\nA) one\nB) two, or\nmore\nC) 3\nD) 4";
    const header = "subject,idx,question,A,B,C,D,answer\n";
    const file = write("mmlu_test.csv.gz", `${header}anatomy,37,${row}`);
    expect(await loadDataset(file, { unscored: true })).toEqual({
      models: [],
      categories: ["anatomy"],
      queries: [{ id: "anatomy.test.37", text, category: 0 }],
    });
    for (const split of ["test", "dev", "val"]) {
      write(`flat/anatomy_${split}.csv`, row + row);
      write(`nested/${split}/anatomy_${split}.csv`, row + row);
    }
    const folder = dirname(write("flat/README", "not a csv"));
    const flat = await loadDataset(folder, { unscored: true });
    expect(flat.queries).toEqual(
      ["dev.0", "dev.1", "test.0", "test.1"].map((id) => ({
        id: `anatomy.${id}`,
        text,
        category: 0,
      })),
    );
    const nested = join(folder, "..", "nested");
    expect(await loadDataset(nested, { unscored: true })).toEqual(flat);
  });

  it("compressed, with a BOM or with CRLF it is the same data set", async () => {
    const text = jsonl(
      { id: "a", query: "é", category: "mmlu" },
      { id: "b", query: "q", category: "gsm8k" },
    );
    const plain = await loadDataset(write("p.jsonl", text), { scores: write("p.csv", CSV) });
    const other = await loadDataset(
      write("p.jsonl.gz", `\uFEFF${text.replaceAll("\n", "\r\n")}\r\n`),
      {
        scores: write("p.csv.gz", `\uFEFF${CSV.replaceAll("\n", "\r\n")}`),
      },
    );
    expect(other).toEqual(plain);
  });
});

describe("the selection of models", () => {
  const rows = jsonl(
    { id: "a", query: "q", scores: { x: 1, y: 0.5, z: 0 } },
    { id: "b", query: "r", scores: { x: 0, y: 0.5, z: 1 } },
  );
  const verdicts = jsonl(
    { id: "a", query: "q", comparisons: [{ a: "x", b: "y", outcome: "a" }] },
    {
      id: "b",
      query: "r",
      comparisons: [
        { a: "y", b: "z", outcome: "b" },
        { a: "x", b: "z", outcome: "a" },
      ],
    },
  );

  const strangers = jsonl(
    { query: "q", comparisons: [{ a: "x", b: "y", outcome: "a" }] },
    { query: "r", comparisons: [{ a: "y", b: "z", outcome: "a" }] },
  );

  it("keeps or leaves out models, in the order of the data", async () => {
    const file = write("three.jsonl", rows);
    const kept = await loadDataset(file, { models: ["z", "x"] });
    expect(kept.models).toEqual(["x", "z"]);
    expect(kept.queries.map(({ scores }) => scores)).toEqual([f(1, 0), f(0, 1)]);
    expect(await loadDataset(file, { exclude: ["y"] })).toEqual(kept);
  });

  it("scores comparisons among the kept models only and drops queries without any", async () => {
    const { models, queries } = await loadDataset(write("cmp.jsonl", verdicts), { exclude: ["x"] });
    expect(models).toEqual(["y", "z"]);
    expect(queries).toEqual([
      {
        id: "b",
        text: "r",
        category: -1,
        comparisons: [{ a: 0, b: 1, outcome: "b" }],
        scores: f(0, 1),
      },
    ]);
  });

  it("needs scores in the table only for the models that are kept", async () => {
    const scores = write("hole.csv", `${CSV}z,mmlu,1,1\n`);
    const data = write("hole.jsonl", jsonl({ query: "q", category: "gsm8k" }));
    await expect(loadDataset(data, { scores })).rejects.toThrow(
      errorText(/z has no score for gsm8k/),
    );
    expect((await loadDataset(data, { scores, exclude: ["z"] })).models).toEqual(["x", "y"]);
  });

  it.each<[string, string, LoadOptions, RegExp]>([
    ["unknown", rows, { exclude: ["w"] }, /--exclude: .* has no model "w"; hint: it has x, y, z/],
    [
      "one left",
      rows,
      { models: ["y"] },
      /--models: leaves only y; hint: routing needs at least two/,
    ],
    ["none left", rows, { models: [] }, /leaves no model/],
    ["never compared", strangers, { exclude: ["y"] }, /x is never compared with another/],
  ])("refuses a selection: %s", async (_, text, options, message) => {
    await refused(write("choice.jsonl", text), options, message);
  });
});

function f(...values: number[]): Float64Array {
  return Float64Array.from(values);
}
