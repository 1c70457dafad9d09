import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { newFolder } from "../gateway.fixture.ts";
import type { Match } from "./match.ts";
import { type ScoreSettings, scorerOf } from "./scorer.ts";
import { runTest } from "./test-command.ts";

const plain: ScoreSettings = { match: "contains" };
const prompt = { id: "p", text: "?" };

describe("a reference answer", () => {
  it.each<[Match, string, string, boolean]>([
    ["contains", "The answer is 42.", "42", true],
    ["contains", "The answer is 142.", "42", false],
    ["contains", "It costs 42.5 dollars", "42", false],
    ["contains", "It costs 1.42 dollars", "42", false],
    ["contains", "x = -42", "42", false],
    ["contains", "x = -42", "-42", true],
    ["contains", "Between 40-42 years, 0.5 on average", "42", true],
    ["contains", "1,234 apples", "1234", true],
    ["contains", "It is  the\nPEACE of Westphalia", "the peace of westphalia", true],
    ["contains", "Option B) fits", "B)", true],
    ["contains", "München", "münchen", true],
    ["exact", " Paris \n", "paris", true],
    ["exact", "It is Paris", "paris", false],
    ["last", "First 3, then 4, so 7.", "7", true],
    ["last", "7 is the sum of 3 and 4", "7", false],
    ["last", "The answer: -2.5", "-2.5", true],
  ])("%s: %j and %j", (match, answer, reference, expected) => {
    const scorer = scorerOf({ ...prompt, answers: ["nothing", reference] }, { match })!;
    expect(scorer.score(answer)).toBe(expected);
  });
});

it("prefers the prompt's own regular expression or schema to the common one", () => {
  const regex = scorerOf({ ...prompt, regex: "^yes$" }, { ...plain, regex: "no" })!;
  expect(["yes", "no"].map((answer) => regex.score(answer))).toEqual([true, false]);
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const typed = scorerOf(prompt, { ...plain, schema })!;
  const answers = ['{"n": 1}', 'Here:\n```json\n{"n": 2}\n```', '{"n": "1"}', "{}", "n = 1"];
  expect(answers.map((answer) => typed.score(answer))).toEqual([true, true, false, false, false]);
  expect(scorerOf(prompt, plain)).toBeUndefined();
  expect(() => scorerOf(prompt, { ...plain, regex: "(" })).toThrow(errorText(/is invalid.*hint/s));
});

describe("a test command", () => {
  const node = process.execPath;
  const test = (words: [string, ...string[]], answer: string, timeoutMs = 60_000) =>
    runTest({ words, timeoutMs }, { ...prompt, text: "the prompt" }, answer);
  const reads = (from: string) =>
    `const fs = require("fs"); process.exit(fs.readFileSync(${from}, "utf8") === process.argv[2] ? 0 : 1)`;

  it("gets the answer on standard input and in a file, and the prompt in a file", async () => {
    expect(await test([node, "-e", reads("0"), "-", "hello"], "hello")).toBe(true);
    expect(await test([node, "-e", reads("0"), "-", "hello"], "other")).toBe(false);
    expect(await test([node, "-e", reads("process.argv[1]"), "{file}", "hello"], "hello")).toBe(
      true,
    );
    const wanted = [node, "-e", reads("process.argv[1]"), "{prompt}", "the prompt"] as const;
    expect(await test([...wanted], "hello")).toBe(true);
  });

  it("never lets a shell read the answer", async () => {
    const folder = newFolder();
    const trap = join(folder, "trap");
    const answer = `'; touch ${trap}; $(touch ${trap}) \`touch ${trap}\``;
    expect(await test([node, "-e", reads("0"), "-", answer], answer)).toBe(true);
    expect(existsSync(trap)).toBe(false);
  });

  it("fails after its time, together with the processes that it has started", async () => {
    const folder = newFolder();
    const script = join(folder, "hang.cjs");
    writeFileSync(
      script,
      'require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {stdio: "inherit"}); setInterval(() => {}, 1000);',
    );
    expect(await test([node, script], "hello", 300)).toBe(false);
  });

  it("says if the program does not exist", async () => {
    await expect(test(["/no/such/program"], "hello")).rejects.toThrow(
      errorText(/cannot be run \(ENOENT\).*hint: correct --test/s),
    );
  });
});
