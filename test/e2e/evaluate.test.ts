import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readScores } from "../../src/core/input/scores.ts";
import { profile } from "../../src/gateway/sandbox/profile.fixture.ts";
import { type Finished, newFolder, ROOT, start } from "./joust.fixture.ts";

const QUERIES = join(ROOT, "data/queries.jsonl");
const SANDBOX = "sandbox: {speed: 1000}\n";

/** A folder with a configuration, in which the command runs. */
function newProject(yaml: string) {
  const folder = newFolder();
  writeFileSync(join(folder, "joust.yaml"), yaml);
  const begin = (...args: string[]) => start(["evaluate", ...args], folder);
  const path = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(path(name), "utf8");
  return { folder, begin, path, text, run: (...args: string[]) => begin(...args).end };
}

const lines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("joust evaluate in the sandbox", () => {
  it("continues after a kill without paying twice, and its scores agree with the truth", async () => {
    const { begin, run, path, text } = newProject(SANDBOX);
    const flags = [QUERIES, "--budget", "5", "--router", "auto", "--concurrency", "4"];
    const killed = begin(...flags);
    // The first tenth is done when the first line of progress arrives.
    await once(killed.stderr!, "data");
    killed.kill("SIGKILL");
    expect((await killed.end).signal).toBe("SIGKILL");
    expect(existsSync(path("joust-evaluation/scores.csv"))).toBe(false);
    const paid = lines(text("joust-evaluation/journal.jsonl")).filter(isAnswer);
    expect(paid.length).toBeGreaterThan(50);
    expect(paid.length).toBeLessThan(700);

    const { code, stdout } = await run(...flags);
    expect(code).toBe(0);
    expect(stdout).toContain("140 of 140 prompts evaluated completely");
    expect(stdout).toContain("changed joust.yaml: routers.auto.scores is joust-evaluation/scores");
    const answers = lines(text("joust-evaluation/journal.jsonl")).filter(isAnswer);
    expect(answers).toHaveLength(700);
    expect(new Set(answers.map(({ key }) => key)).size).toBe(700);
    expect(text("joust.yaml")).toContain("scores: joust-evaluation/scores.csv");
    expect(lines(text("joust-evaluation/outcomes.jsonl"))).toHaveLength(140);

    // z^2 has the mean 1 and the sd 1.4 if the stated errors are right, so the mean of 35 lies within 1 +- 0.5.
    const table = await readScores(path("joust-evaluation/scores.csv"));
    const errors = [...table.models].flatMap(([model, scores]) =>
      [...scores].map(([category, { perf, error }]) => {
        return (perf - profile.quality(model, category)) / error;
      }),
    );
    expect(errors).toHaveLength(35);
    const meanSquare = errors.reduce((sum, z) => sum + z ** 2 / 35, 0);
    expect(meanSquare).toBeGreaterThan(0.5);
    expect(meanSquare).toBeLessThan(1.5);
    expect(errors.filter((z) => Math.abs(z) < 1.96).length).toBeGreaterThanOrEqual(31);

    const check = await start(["serve", "--check"], path(".")).end;
    expect([check.code, check.stderr]).toEqual([0, ""]);
    const again = await run(...flags);
    expect(again.stdout).toContain("updated joust-evaluation/scores.csv");
    expect(lines(text("joust-evaluation/journal.jsonl")).filter(isAnswer)).toHaveLength(700);
  });

  it("compares with a judge, and logs the comparisons as votes once", async () => {
    const { run, text } = newProject(SANDBOX);
    const flags = [
      ...[QUERIES, "--judge", "summit-pro", "--active", "--pairs", "40"],
      ...["--budget", "10", "--router", "auto"],
    ];
    const { code, stdout, stderr } = await run(...flags);
    expect(code).toBe(0);
    expect(stderr).toContain("the judge summit-pro is one of the compared models");
    expect(stdout).toContain("logged 40 new votes of the judge");
    const votes = lines(text("joust-evaluation/votes.jsonl"));
    expect(votes).toHaveLength(40);
    expect(votes[0]).toMatchObject({ voter: "judge:summit-pro", weight: 1 });
    const again = await run(...flags);
    expect(again.stdout).toContain("logged 0 new votes");
    const other = await run(...flags, "--exclude", "summit-pro", "--dry-run");
    expect(other.stderr).not.toContain("is one of the compared models");
    const journal = lines(text("joust-evaluation/journal.jsonl"));
    const judged = journal.filter((record) => isAnswer(record) && record.model === "summit-pro");
    expect(judged.length).toBeGreaterThanOrEqual(80);
  });

  it("keeps the budget, and continues with a higher one", async () => {
    const { run, text } = newProject(SANDBOX);
    const spent = () => {
      const records = lines(text("joust-evaluation/journal.jsonl"));
      return records.reduce((sum, { cost = 0 }) => sum + cost, 0);
    };
    const first = await run(QUERIES, "--budget", "0.5");
    expect(first.stdout).toMatch(/The budget is used up/);
    expect(spent()).toBeLessThanOrEqual(0.5);
    expect(spent()).toBeGreaterThan(0.1);
    const before = lines(text("joust-evaluation/outcomes.jsonl")).length;
    await run(QUERIES, "--budget", "0.8");
    expect(spent()).toBeLessThanOrEqual(0.8);
    expect(lines(text("joust-evaluation/outcomes.jsonl")).length).toBeGreaterThan(before);
  });

  it("plans without sending anything, and refuses what cannot be scored or paid", async () => {
    const { run, path } = newProject(SANDBOX);
    const plan = await run(QUERIES, "--dry-run", "--sample", "20", "--budget", "1");
    expect(plan.stdout).toMatch(
      /requests {2}100\n.*cost {6}about \$\d.*at most \$\d.*time {6}about/s,
    );
    const record = await run(QUERIES, "--dry-run", "--sample", "20", "--json");
    expect(JSON.parse(record.stdout)).toMatchObject({ requests: 100, paid: 0, spent: 0 });
    writeFileSync(path("p.txt"), "Why?\n");
    const refusals: [string[], RegExp][] = [
      [[QUERIES], /--budget: is missing/],
      [["p.txt", "--budget", "1"], /1 of 1 prompts without a way to score/],
      [["p.txt", "--budget", "1", "--judge", "gpt-5"], /there is no model "gpt-5"/],
      [[QUERIES, "--budget", "1", "--active"], /--active: needs a judge/],
      [[QUERIES, "--budget", "1", "--router", "aut"], /there is no router "aut"/],
      [[QUERIES, "--budget", "0.0001"], /less than one prompt may cost/],
    ];
    for (const [args, message] of refusals) {
      const { code, stderr } = await run(...args);
      expect([code !== 0, stderr]).toEqual([true, expect.stringMatching(message)]);
    }
  });
});

it("leaves out a model whose upstream fails, and says why", async () => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const { model, messages } = JSON.parse(Buffer.concat(chunks).toString());
    if (model === "broken") {
      response.writeHead(500, { "content-type": "application/json" });
      response.end('{"error": {"message": "out of order"}}');
      return;
    }
    const right = model === "good" || messages[0].content === "1 + 1?";
    const message = { role: "assistant", content: right ? "It is 2." : "It is 3." };
    const choice = { index: 0, finish_reason: "stop", message };
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "1", model, choices: [choice], usage }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const price = "price: {input: 1, output: 1}";
  const { run, path, text } = newProject(
    `providers: {p: {url: "${url}"}}\nmodels: {good: {provider: p, ${price}}, fair: {provider: p, ${price}}, broken: {provider: p, ${price}}, local: {provider: p}}\n`,
  );
  const rows = ["1 + 1?", "0 + 2?", "3 - 1?", "4 - 2?", "2 * 1?", "2 / 1?"];
  writeFileSync(path("p.csv"), `query,answer\n${rows.map((row) => `${row},2`).join("\n")}\n`);
  const refused = await run("p.csv", "--budget", "1");
  expect(refused.stderr).toMatch(/the price of local is unknown/);
  const fast = ["--retries", "0", "--concurrency", "1"];
  const { code, stdout }: Finished = await run(
    "p.csv",
    "--budget",
    "1",
    "--exclude",
    "local",
    ...fast,
  );
  expect(code).toBe(0);
  expect(stdout).toContain("6 of 6 prompts evaluated completely");
  expect(stdout).toMatch(/failed {4}5 requests to broken: .*500/);
  const outcomes = lines(text("joust-evaluation/outcomes.jsonl"));
  const sums = ["good", "fair", "broken"].map((model) =>
    outcomes.reduce((sum, { scores }) => sum + (scores[model] ?? Number.NaN), 0),
  );
  expect(sums).toEqual([6, 1, Number.NaN]);
  const estimated = await run(
    "p.csv",
    "--budget",
    "1",
    "--unpriced",
    "estimate",
    "--json",
    ...fast,
  );
  expect(
    JSON.parse(estimated.stdout).scores.map(({ model }: { model: string }) => model),
  ).toContain("local");
});

function isAnswer({ kind }: { readonly kind: string }): boolean {
  return kind === "answer";
}
