import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { withScores } from "./apply.ts";
import { readPrompts } from "./prompts.ts";
import { wordsOf } from "./setup.ts";

const write = temporaryFolder();

describe("prompts", () => {
  it("are read from jsonl, csv and text, each text once", async () => {
    const jsonl = write(
      "p.jsonl",
      '{"query": "Why?", "answer": "42", "category": "MMLU"}\n{"id": 7, "query": "How?", "answer": ["a", "b"], "regex": "x"}\n{"query": "Why?"}\n',
    );
    expect(await readPrompts(jsonl)).toMatchObject([
      { id: "line-1", text: "Why?", answers: ["42"] },
      { id: "7", text: "How?", answers: ["a", "b"], regex: "x" },
    ]);
    const csv = write("p.csv", 'Query,answer,id\n"Why, again?",42,q1\nHow?,,\n');
    expect(await readPrompts(csv)).toMatchObject([
      { id: "q1", text: "Why, again?", answers: ["42"] },
      { id: "line-3", text: "How?", answers: undefined },
    ]);
    expect(await readPrompts(write("p.txt", "Why?\n\nHow?\n"))).toEqual([
      { id: "line-1", text: "Why?" },
      { id: "line-3", text: "How?" },
    ]);
  });

  it.each([
    ["a.jsonl", '{"query": ""}', /a\.jsonl:1: field "query"/],
    ["b.jsonl", '{"query": "?", "anwser": "1"}', /b\.jsonl:1: field "anwser": is unknown/],
    ["c.csv", "prompt,answer\nx,y\n", /c\.csv:1: field "query": is not a column/],
    ["d.csv", "query,answer\n,y\n", /d\.csv:2: field "query": is empty/],
    ["e.txt", "\n", /e\.txt: has no prompts/],
  ])("in %s with a mistake are refused with their place", async (name, text, message) => {
    await expect(readPrompts(write(name, text))).rejects.toThrow(errorText(message));
  });
});

it("splits a test command into words without interpreting anything else", () => {
  expect(wordsOf(`python3 "my check.py" '$HOME' {file} a;b`)).toEqual([
    "python3",
    "my check.py",
    "$HOME",
    "{file}",
    "a;b",
  ]);
});

it.each([
  ["", "routers:\n  auto:\n    scores: s.csv\n"],
  ["# mine\nrouters:\n  auto:\n", "# mine\nrouters:\n  auto:\n    scores: s.csv\n"],
  [
    "routers:\n  auto:\n    budget: 1 # cents\n  other: {}\n",
    "routers:\n  auto:\n    budget: 1 # cents\n    scores: s.csv\n  other: {}\n",
  ],
])("adds the scores of a router to the configuration %j", (before, after) => {
  expect(withScores(before, "auto", "s.csv")).toBe(after);
});
