import { describe, it } from "vitest";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { CSV, jsonl, refused } from "./load.fixture.ts";

const write = temporaryFolder();

describe("errors name file, line and field", () => {
  const q = { id: "a", query: "q", category: "mmlu" };
  const s = { id: "a", query: "q", scores: { x: 1, y: 0 } };
  const c = (...comparisons: unknown[]) => ({ id: "a", query: "q", comparisons });
  it.each<[string, string, RegExp]>([
    ["nothing", "", /bad.jsonl: is empty/],
    ["blank lines", "\n \n", /bad.jsonl: is empty/],
    ["broken JSON", `${jsonl(s)}\n{"id"`, /:2: is not JSON/],
    ["an unknown shape", jsonl({ id: "a", text: "q" }), /:1: field "query": is missing/],
    ["an empty query", jsonl(s, { ...s, id: "b", query: " " }), /:2: field "query": is empty/],
    ["no query", jsonl(s, { id: "b", scores: s.scores }), /:2: field "query": is missing/],
    ["an id twice", jsonl(s, { ...s, id: "b" }, s), /:3: field "id": "a" is already on line 1/],
    [
      "an id equal to the default id of another line",
      jsonl({ ...s, id: "line-2" }, { ...s, id: undefined }),
      /:2: field "id": "line-2"/,
    ],
    [
      "a category on some rows",
      jsonl({ ...s, category: "c" }, { ...s, id: "b" }),
      /:2: field "category": is missing, but line 1 has it/,
    ],
    [
      "a category on later rows",
      jsonl(s, { ...s, id: "b", benchmark: "c" }),
      /:1: field "benchmark": is missing, but line 2 has it/,
    ],
    [
      "a score above 1",
      jsonl({ ...s, scores: { x: 1.5, y: 0 } }),
      /:1: field "scores.x": is 1.5, above 1/,
    ],
    [
      "a score below 0",
      jsonl({ ...s, scores: { x: 1, y: -0.1 } }),
      /:1: field "scores.y": is -0.1, below 0/,
    ],
    [
      "a score in words",
      jsonl({ ...s, scores: { x: "1", y: 0 } }),
      /:1: field "scores.x": is "1", not of type number/,
    ],
    [
      "a score of null",
      jsonl({ ...s, scores: { x: null, y: 0 } }),
      /:1: field "scores.x": is null/,
    ],
    ["a score of NaN", '{"query":"q","scores":{"x":NaN,"y":0}}', /:1: is not JSON.*no NaN/],
    [
      "a vote on one model",
      jsonl({ at: 1, query: "q", a: "x", outcome: "a" }),
      /:1: field "outcome": does not compare two different models/,
    ],
    [
      "votes without texts",
      jsonl({ at: 1, x: [1], a: "x", b: "y", outcome: "a" }),
      /bad.jsonl: has no vote .*prompts: true/,
    ],
    [
      "a negative cost",
      jsonl({ ...s, costs: { x: -1, y: 0 } }),
      /:1: field "costs.x": is -1, below 0/,
    ],
    [
      "costs on some rows",
      jsonl(s, { ...s, id: "b", costs: { x: 1, y: 1 } }),
      /:1: field "costs": is missing, but line 2/,
    ],
    ["a cost of some models", jsonl({ ...s, costs: { x: 1 } }), /:1: field "costs.y": is missing/],
    [
      "one model",
      jsonl({ ...s, scores: { x: 1 } }),
      /:1: field "scores": has only one model, x; hint/,
    ],
    ["no model", jsonl({ ...s, scores: {} }), /:1: field "scores": has no model; hint/],
    [
      "a model missing on a later row",
      jsonl(s, { ...s, id: "b", scores: { x: 1 } }),
      /:2: field "scores.y": is missing; .*x, y/,
    ],
    [
      "an additional model on a later row",
      jsonl(s, { ...s, id: "b", scores: { x: 1, y: 1, z: 1 } }),
      /:2: field "scores.z"/,
    ],
    ["a misspelt field", jsonl({ ...s, cost: s.scores }), /:1: field "cost": .* mean "costs"/],
    [
      "a misspelt field on a later row",
      jsonl(s, { ...s, id: "b", catgory: "c" }),
      /:2: field "catgory": .* mean "category"/,
    ],
    [
      "scores with a misspelt name",
      jsonl({ ...q, score: s.scores }),
      /:1: field "score": .* mean "scores"/,
    ],
    [
      "a query with a misspelt name",
      jsonl({ ...s, query: undefined, Query: "q" }),
      /"Query": .* mean "query"/,
    ],
    [
      "scores that begin on a later row",
      jsonl(q, s),
      /:2: field "scores": is not on the first row/,
    ],
    [
      "scores missing on a later row",
      jsonl(s, { id: "b", query: "q" }),
      /:2: field "scores": is missing/,
    ],
    [
      "a model against itself",
      jsonl(c({ a: "x", b: "x", outcome: "a" })),
      /:1: field "comparisons\[0\]": compares a model with itself/,
    ],
    [
      "an unknown outcome",
      jsonl(c({ a: "x", b: "y", outcome: "win" })),
      /:1: field "comparisons\[0\].outcome": is "win", not one of "a", "b", "tie", "both_bad"/,
    ],
    ["no comparison", jsonl(c()), /:1: field "comparisons": holds no comparison/],
    [
      "a pair with only one model",
      jsonl({ query: "q", cmp: { x: 1 } }),
      /:1: field "cmp.x": does not name two models/,
    ],
    [
      "a pair of a model with itself",
      jsonl({ query: "q", cmp: { "x,x": 1 } }),
      /:1: field "cmp.x,x": compares a model with itself/,
    ],
    [
      "a verdict of 4",
      jsonl({ query: "q", cmp: { "x,y": 4 } }),
      /:1: field "cmp.x,y": is 4, not one of 1, 2, 3/,
    ],
    [
      "a conversation without a question",
      jsonl({ conversation: "### Human: ### Assistant:", cmp: { "x,y": 1 } }),
      /:1: field "conversation": holds no question/,
    ],
    [
      "neither query nor conversation",
      jsonl({ cmp: { "x,y": 1 } }),
      /:1: field "query": holds no question/,
    ],
    [
      "MixInstruct's verdict unknown",
      jsonl({ instruction: "q", cmp_results: '{"x,y":"A"}' }),
      /:1: field "cmp_results.x,y": is "A"/,
    ],
    [
      "MixInstruct's verdicts broken",
      jsonl({ instruction: "q", cmp_results: "{" }),
      /:1: field "cmp_results": is not JSON/,
    ],
    [
      "MixInstruct without any verdict",
      jsonl({ instruction: "q", cmp_results: null }),
      /holds no queries/,
    ],
    [
      "an Arena vote without prompt",
      jsonl({ model_a: "x", model_b: "y", winner: "tie" }),
      /:1: field "prompt": holds no question/,
    ],
    [
      "an Arena vote for a third model",
      jsonl({ model_a: "x", model_b: "y", winner: "z", prompt: "q" }),
      /:1: field "winner": is "z", not one of/,
    ],
    [
      "an Arena vote on one model",
      jsonl({ model_a: "x", model_b: "x", winner: "tie", prompt: "q" }),
      /:1: field "model_b": is model_a again/,
    ],
    [
      "an LLMRouter row without task",
      jsonl({ task: "t", query: "q", scores: s.scores }, { query: "q", scores: s.scores }),
      /:2: field "task": is missing/,
    ],
    [
      "queries without scores",
      jsonl(q),
      /holds no scores of models and no comparisons; hint: add --scores/,
    ],
  ])("%s", async (_, text, message) => {
    await refused(write("bad.jsonl", text), {}, message);
  });

  const queries = jsonl(q, { id: "b", query: "r", category: "gsm8k" });
  it.each<[string, string, string, RegExp]>([
    ["an empty csv", queries, "", /scores.csv: holds no scores/],
    [
      "a csv with only a header",
      queries,
      "model,category,perf,cost\n",
      /scores.csv: holds no scores/,
    ],
    [
      "no column cost",
      queries,
      "model,category,perf\nx,mmlu,1\n",
      /scores.csv:1: field "cost": is not a column/,
    ],
    ["an empty cell", queries, `${CSV}z,mmlu,,1\n`, /scores.csv:6: field "perf": is empty/],
    ["a short line", queries, `${CSV}z,mmlu,1\n`, /scores.csv:6: field "cost": is empty/],
    [
      "perf in words",
      queries,
      `${CSV}z,mmlu,good,1\n`,
      /scores.csv:6: field "perf": is "good", not a number/,
    ],
    [
      "perf as a percentage",
      queries,
      CSV.replace("0.75", "75"),
      /scores.csv:4: field "perf": is 75; hint: perf lies within 0..1: divide/,
    ],
    ["perf below 0", queries, `${CSV}z,mmlu,-0.1,1\n`, /scores.csv:6: field "perf": is -0.1; hint/],
    [
      "semicolons",
      queries,
      CSV.replaceAll(",", ";"),
      /scores.csv:1: .*hint: separate cells with comm/,
    ],
    ["jsonl in place of csv", queries, queries, /scores.csv:1: is JSON, not a csv of scores; hint/],
    ["perf NaN", queries, `${CSV}z,mmlu,nan,1\n`, /scores.csv:6: field "perf": is "nan"/],
    ["a negative cost", queries, `${CSV}z,mmlu,1,-1\n`, /scores.csv:6: field "cost": is -1/],
    [
      "a score twice",
      queries,
      `${CSV}x,MMLU,1,1\n`,
      /scores.csv:6: field "category": x already has a score for mmlu on line 2/,
    ],
    [
      "a hole in the table",
      queries,
      `${CSV}z,mmlu,1,1\n`,
      /scores.csv:6: field "category": z has no score for gsm8k/,
    ],
    [
      "one model",
      queries,
      "model,category,perf,cost\nx,mmlu,1,1\nx,gsm8k,1,1\n",
      /scores.csv: field "model": has only one model, x/,
    ],
    [
      "an unknown category",
      `${queries}\n${jsonl({ query: "s", category: "law" })}`,
      CSV,
      /bad.jsonl:3: field "category": "law" has no scores in .*hint: use one of mmlu, gsm8k/,
    ],
    [
      "an unknown benchmark",
      jsonl({ query: "s", benchmark: "law" }),
      CSV,
      /bad.jsonl:1: field "benchmark": "law"/,
    ],
    [
      "no category",
      jsonl({ query: "s" }),
      CSV,
      /bad.jsonl:1: field "category": is missing, but scores are given/,
    ],
    [
      "a model that the table lacks",
      jsonl({ query: "s", category: "mmlu", scores: { x: 1, w: 0 } }),
      CSV,
      /scores.csv: field "model": has no line for w/,
    ],
  ])("%s", async (_, text, csv, message) => {
    const scores = write("scores.csv", csv);
    await refused(write("bad.jsonl", text), { scores }, message);
  });

  it.each<[string, string, string, RegExp]>([
    ["a scores table as data", "table.csv", CSV, /table.csv:1: is a table of scores/],
    [
      "scores separated by semicolons",
      "s.csv",
      CSV.replaceAll(",", ";"),
      /:1: has 1 cell.*hint: .*--scores/,
    ],
    [
      "queries as csv",
      "q.csv",
      "id,query,category\n1,Why?,law\n",
      /:1: has 3 cells.*hint: .*jsonl/,
    ],
    ["an empty option", "law_test.csv", "q,a,b,,d,A\n", /law_test.csv:1: field "C": is empty/],
    [
      "an empty question",
      "law_test.csv",
      "q,a,b,c,d,A\n,a,b,c,d,A\n",
      /law_test.csv:2: field "question": is empty/,
    ],
    [
      "no option D",
      "mmlu.csv",
      "subject,question,A,B,C\nlaw,q,a,b,c\n",
      /mmlu.csv:1: field "d": is not a column/,
    ],
    ["an empty csv", "mmlu.csv", "", /holds no queries/],
  ])("csv: %s", async (_, name, text, message) => {
    await refused(write(name, text), { unscored: true }, message);
  });

  it("files that cannot be read", async () => {
    await refused("no-such.jsonl", {}, /^no-such.jsonl: does not exist/);
    const folder = write("other/notes.txt", "x").replace(/notes.txt$/, "");
    await refused(folder, {}, /is a folder without \*_test.csv/);
    const data = write("ok.jsonl", queries);
    await refused(data, { scores: "no-such.csv" }, /^no-such.csv: does not exist/);
    await refused(data, { scores: folder }, /is a folder/);
  });
});
