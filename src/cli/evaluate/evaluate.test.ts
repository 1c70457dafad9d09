import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { StandingClock } from "../../gateway/clock/clock.fixture.ts";
import { CONFIG } from "../../gateway/config/config.ts";
import { applyVotes, withScores } from "./apply.ts";
import { runEvaluate } from "./evaluate.ts";
import { EVALUATE_DEFAULTS, type EvaluateFlags } from "./flags.ts";
import { modelTable, planText } from "./output.ts";
import { readPrompts } from "./prompts.ts";
import { openSetup, wordsOf } from "./setup.ts";

const write = temporaryFolder();

describe("prompts", () => {
  it("are read from jsonl, csv and text, each text once", async () => {
    const jsonl = write(
      "p.jsonl",
      '{"query": "Why?", "answer": 42, "category": "MMLU"}\n{"id": 7, "query": "How?", "answer": ["a", 2.5], "regex": "x"}\n{"query": "Why?"}\n',
    );
    expect(await readPrompts(jsonl)).toMatchObject([
      { id: "line-1", text: "Why?", answers: ["42"] },
      { id: "7", text: "How?", answers: ["a", "2.5"], regex: "x" },
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
    [
      "f.jsonl",
      '{"query": "?"}\n{"query": "!", "regex": "("}',
      /f\.jsonl:2: field "regex": the reg/,
    ],
    ["g.csv", "query,regex\nx,y\nz,(\n", /g\.csv:3: field "regex": the regular expression/],
    ["h.jsonl", '{"query": "?", "schema": {"type": "x"}}', /h\.jsonl:1: field "schema": the JSON/],
    [
      "j.jsonl",
      '{"id": 1, "query": "?"}\n{"id": "1", "query": "!"}',
      /j\.jsonl:2: field "id": "1" is a/,
    ],
    [
      "k.jsonl",
      '{"query": "?", "answer": "1"}\n{"query": "!"}\n{"query": "?", "answer": 2}',
      /k\.jsonl:3: field "answer": differs from that of line 1, which.*; hint: .*are a list/s,
    ],
    ["l.csv", "query,regex\nx,y\nx,z\n", /l\.csv:3: field "regex": differs from that of line 2/],
    ["m.jsonl", '{"query": "?", "answer": true}', /field "answer": is true, not a text, a number/],
    ["i.json", '[{"query": "?"}]', /i\.json:1: is .*not a JSON object; hint: .*without a list/s],
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

it("says that the rest of an evaluation fits, even if nothing is left of its budget", () => {
  const done = { requests: 0, paid: 8, dollars: 0, most: 0, seconds: 0 };
  expect(planText(done, 1, 1.01)).toContain("probably enough");
  expect(planText({ ...done, requests: 4, dollars: 0.5 }, 1, 1.01)).toContain("about 0%");
});

it.each([5, 60])("states an error above 0 if all of %i answers are right", (n) => {
  const scored = Array.from({ length: n }, (_, i) => ({
    prompt: { id: `${i}`, text: `${i}` },
    answers: new Map([["m", { score: 1, cost: 0.001 }]]),
  }));
  const [score, error] = modelTable(scored, ["m"])
    .match(/(?<=m +)1.*/)![0]
    .split(/ +/);
  expect(Number(score)).toBe(1);
  expect(Number(error)).toBeGreaterThan(0);
  expect(Number(error)).toBeLessThan(0.5);
});

let outs = 0;
const newOut = () => join(dirname(write("unused", "")), `evaluation-${++outs}`);

/** Runs an evaluation. Returns its exit code and what it has printed. */
async function evaluate(
  prompts: string,
  flags: Partial<EvaluateFlags>,
  yaml = "sandbox: {speed: 1000}\n",
) {
  const config = write("joust.yaml", yaml);
  const { out = newOut() } = flags;
  const output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { pairs: _, ...defaults } = EVALUATE_DEFAULTS;
  const all = { ...defaults, config, data: dirname(config), ...flags, out };
  try {
    const code = await runEvaluate(write("p.txt", prompts), all, new StandingClock());
    const [text, error] = [output, errors].map(({ mock }) => mock.calls.flat().join(""));
    return { code, out, text, errors: error };
  } finally {
    output.mockRestore();
    errors.mockRestore();
  }
}

describe("an evaluation", () => {
  it("writes into a folder that only its owner reads", async () => {
    const { code, out } = await evaluate("Why?\n", { regex: "x", dryRun: true });
    expect(code).toBe(0);
    expect(statSync(out).mode & 0o777).toBe(0o700);
  });

  it("refuses a file as the folder of the results", async () => {
    const out = write("file", "");
    const running = evaluate("Why?\n", { regex: "x", dryRun: true, out });
    await expect(running).rejects.toThrow(errorText(/file: cannot be written \(EEXIST\); hint/));
  });

  it.each([
    ["[]", /s\.json: is not a JSON object/],
    ['{"type": "x"}', /s\.json: the JSON schema cannot be used: Unsupported type: x/],
  ])("refuses the schema %s with its file", async (text, message) => {
    const running = evaluate("Why?\n", { schema: write("s.json", text), dryRun: true });
    await expect(running).rejects.toThrow(errorText(message));
  });

  it("refuses a regular expression with its flag", async () => {
    const running = evaluate("Why?\n", { regex: "(", dryRun: true });
    await expect(running).rejects.toThrow(errorText(/^--regex: the regular expression \( is inv/));
  });

  it("says how to name the log if its folder does not exist", async () => {
    const folder = join(newOut(), "none");
    const flags = { ...EVALUATE_DEFAULTS, fromLog: true, regex: "x", config: write("j.yaml", "") };
    await expect(openSetup(folder, flags)).rejects.toThrow(
      errorText(/none.joust\.db: does not exist; hint: .*evaluate joust-data --from-log/),
    );
  });

  it("starts the test command before it pays for an answer", async () => {
    const out = newOut();
    const running = evaluate("Why?\n", { test: "/no/such/program", budget: 5, out });
    await expect(running).rejects.toThrow(errorText(/cannot be run \(ENOENT\)/));
    expect(readFileSync(join(out, "journal.jsonl"), "utf8")).toBe("");
  });
});

describe("the summary of an evaluation", () => {
  /** The summary with models whose replies a test decides. */
  const summaryWith = async (
    replyOf: (model: string) => string | undefined,
    flags: Partial<EvaluateFlags>,
  ) => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const piece of request) chunks.push(piece);
      const content = replyOf(JSON.parse(Buffer.concat(chunks).toString()).model);
      response.statusCode = content === undefined ? 500 : 200;
      response.setHeader("content-type", "application/json");
      const message = { role: "assistant", content };
      const usage = { prompt_tokens: 1, completion_tokens: 500 };
      response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const models = ["a", "b", "judge"].map(
      (name) => `  ${name}: {provider: p, price: {input: 1, output: 1}, retries: 0}\n`,
    );
    const yaml = `providers: {p: {url: "http://127.0.0.1:${port}/v1"}}\nmodels:\n${models.join("")}routers: {auto: {models: [a, b]}}\n`;
    const prompts = Array.from({ length: 12 }, (_, i) => `Why ${i}?\n`).join("");
    return evaluate(prompts, { budget: 5, retries: 0, concurrency: 1, ...flags }, yaml);
  };

  it("says that a judge has given no verdict", async () => {
    const { code, errors } = await summaryWith(() => "maybe", { judge: "judge" });
    expect(code).toBe(1);
    expect(errors).toMatch(
      /no comparison has a verdict of the judge judge\nhint: .*journal\.jsonl/,
    );
  });

  it("of a dry run leaves out the comparisons of an earlier run", async () => {
    const flags = { judge: "judge", pairs: 12, out: newOut() };
    const before = await summaryWith(() => "A", { ...flags, pairs: 8 });
    expect(before.text).toContain("8 comparisons by judge");
    const { text } = await summaryWith(() => "A", { ...flags, dryRun: true });
    expect(text).toMatch(/requests +16\n/);
    const done = await summaryWith(() => "A", { ...flags, pairs: 8, dryRun: true });
    expect(done.text).toMatch(/requests +0\n/);
  });

  it("says that another --max-tokens pays for answers again, also in a dry run", async () => {
    const flags = { regex: "yes", out: newOut() };
    const first = await summaryWith(() => "yes", { ...flags, maxTokens: 500 });
    expect(first.errors).not.toContain("paid for again");
    const again =
      /24 answers in .* had --max-tokens 500 and cannot be used with 800, .* paid for again/;
    const dry = await summaryWith(() => "yes", { ...flags, maxTokens: 800, dryRun: true });
    expect(dry.errors).toMatch(again);
    expect((await summaryWith(() => "yes", { ...flags, maxTokens: 800 })).errors).toMatch(again);
    const done = await summaryWith(() => "yes", { ...flags, maxTokens: 800 });
    expect(done.errors).not.toContain("paid for again");
  });

  it("says why a part of the budget is left", async () => {
    const { text } = await summaryWith(() => "yes", { regex: "yes", budget: 0.002 });
    expect(text).toContain("1 of 12 prompts evaluated completely; $0.001 of $0.002 spent");
    expect(text).toContain("used up: one more request may cost more than the $0.001 that is left.");
  });

  it("says what to do about a model that is no longer called", async () => {
    let left = 3;
    const reply = (model: string) => (model === "b" || left-- > 0 ? "yes" : undefined);
    const { text } = await summaryWith(reply, { regex: "yes" });
    expect(text).toContain("3 of 12 prompts evaluated completely");
    expect(text).toMatch(/5 requests to a: p answered 500.* no longer called: .*--exclude a /);
    expect(text).toContain("no longer called: 4 more requests to it were left out;");
  });

  it("names no next step if the scores are of no use", async () => {
    const { text } = await summaryWith(() => "yes", { regex: "yes" });
    expect(text).toContain("All models have the same score");
    expect(text).not.toContain("Next:");
  });
});

describe("votes of the judge", () => {
  const at = "2026-11-15T12:00:00Z";
  const vote = { at, query: "Why?", a: "x", b: "y", outcome: "a", voter: "judge:z", weight: 1 };
  const config = CONFIG.parse({ store: { url: "postgres://user:password@127.0.0.1:1/none" } });
  const apply = (flags: { data: string | undefined; database: string | undefined }) =>
    applyVotes(
      { config, file: "joust.yaml", router: "auto" },
      write("votes.jsonl", `${JSON.stringify(vote)}\n`),
      { encoder: hashEncoder, encoderName: "hash" },
      ["x", "y"],
      flags,
    );

  it("go to the database of the configuration if no flag names another store", async () => {
    // Nothing listens on this port, so the attempt shows which store was opened.
    await expect(apply({ data: undefined, database: undefined })).rejects.toThrow(/127\.0\.0\.1:1/);
    await expect(apply({ data: undefined, database: "mysql://other" })).rejects.toThrow(
      errorText(/--database: is not a PostgreSQL address/),
    );
  });

  it("go to the data folder of --data, and the message names it", async () => {
    const data = join(dirname(write("x", "")), "data");
    const applied = await apply({ data, database: undefined });
    expect(applied).toMatch(/logged 1 new votes/);
    expect(applied.endsWith(join(data, "joust.db"))).toBe(true);
    expect(existsSync(join(data, "joust.db"))).toBe(true);
  });
});

describe("disabled models", () => {
  const open = async (flags: object) => {
    const models = ["abacus-14b", "pebble-mini", "summit-pro"].map(
      (name) => `  ${name}: {provider: sandbox, enabled: ${name !== "summit-pro"}}\n`,
    );
    const config = write("joust.yaml", `models:\n${models.join("")}`);
    const data = dirname(config);
    const prompts = write("p.txt", "Why?\n");
    const setup = await openSetup(prompts, { ...EVALUATE_DEFAULTS, data, config, ...flags });
    await setup.builder.close();
    return setup;
  };

  it("are not evaluated", async () => {
    const { models } = await open({ regex: "x" });
    expect(models.map(({ name }) => name)).toEqual(["abacus-14b", "pebble-mini"]);
    await expect(open({ regex: "x", exclude: ["pebble-mini"] })).rejects.toThrow(
      errorText(/--exclude: leaves one enabled model/),
    );
  });

  it("are refused as a judge", async () => {
    await expect(open({ judge: "summit-pro" })).rejects.toThrow(
      errorText(/--judge: the model "summit-pro" is disabled; hint: .*models\.summit-pro\.enabled/),
    );
  });
});
