import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  describeWithPublicData,
  OWN_QUERIES,
  OWN_SCORES,
  publicData,
} from "../../src/lab/data/real-data.fixture.ts";
import { joust, newFolder, ROOT, start, withoutTimes } from "./joust.fixture.ts";

const OWN = ["simulate", OWN_QUERIES, "--scores", OWN_SCORES, "--exclude", "gpt-4"];

describe("a comparison", () => {
  it("prints the table, a sentence and the path of the report, and writes every file", async () => {
    const out = newFolder();
    const args = ["--policies", "joust,random,./examples/mine.ts:patience=4", "--runs", "3"];
    const { code, stdout, stderr } = await joust(...OWN, ...args, "--out", out);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^queries\.jsonl: 140 queries in 7 categories, 10 models; 105 rounds/);
    for (const name of ["joust", "random", "./examples/mine.ts:patience=4"]) {
      expect(stdout).toContain(`\n${name.padEnd(30)} `);
    }
    expect(stdout).toContain("Over 3 runs of 105 rounds, ");
    expect(stdout).toContain(`Report: ${join(out, "report.html")}`);
    expect((await readdir(out)).sort()).toEqual([
      "paired.csv",
      "paired.tex",
      "pareto.svg",
      "regret.svg",
      "report.html",
      "result.json",
      "runs.jsonl",
      "table.csv",
      "table.tex",
    ]);
    const text = readFileSync(join(out, "result.json"), "utf8");
    for (const path of [ROOT, out, "/"]) expect(text.includes(`"${path}`)).toBe(false);
    const { settings, policies } = withoutTimes(text);
    expect(settings).toMatchObject({
      data: "queries.jsonl",
      scores: "routerbench.csv",
      encoder: "static",
      seed: 1,
      rounds: 105,
      runs: 3,
      told: { kind: "scores" },
      version: JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version,
      policies: { "./examples/mine.ts:patience=4": { kind: "mine", options: { patience: 4 } } },
    });
    expect(policies.joust!.regret.mean).toBeLessThan(policies.random!.regret.mean);
    expect(policies.joust!.regret.runs.length).toBe(3);
  });

  it("--json prints the result and nothing else; one run has null for bounds", async () => {
    const { code, stdout, stderr } = await joust(
      ...OWN,
      "--policies",
      "random",
      "--runs",
      "1",
      "--json",
    );
    expect([code, stderr]).toEqual([0, ""]);
    const { policies } = withoutTimes(stdout);
    expect(policies.random!.regret).toMatchObject({ lo: null, hi: null });
    expect(policies.random!.curve.lo.every((bound) => bound === null)).toBe(true);
    expect(policies.random!.curve.t.at(-1)).toBe(105);
  });

  it("gives the same result on one thread and on two, and another with another seed", async () => {
    const args = [...OWN, "--policies", "joust,zero-feedback,greedy", "--rounds", "200", "--json"];
    const one = await joust(...args, "--threads", "1");
    const two = await joust(...args, "--threads", "2");
    expect(withoutTimes(two.stdout)).toEqual(withoutTimes(one.stdout));
    const other = await joust(...args, "--seed", "2");
    expect(withoutTimes(other.stdout).policies).not.toEqual(withoutTimes(one.stdout).policies);
  });

  it("uses every option of the environment and its voters", async () => {
    const args = ["--policies", "joust", "--runs", "1", "--rounds", "60", "--json"];
    const regret = async (...more: string[]) => {
      const { code, stdout } = await joust(...OWN, ...args, ...more);
      expect(code).toBe(0);
      return withoutTimes(stdout).policies.joust!.regret.mean;
    };
    const base = ["--told", "none"];
    const plain = await regret(...base);
    for (const more of [
      ["--told", "noisy:0.2"],
      ["--told", "permuted"],
      [...base, "--truth", "noisy:0.1"],
      [...base, "--lambda", "0.05", "--stream", "uniform", "--offline", "3"],
      [...base, "--voters", "count=20,noisy=0.3,malicious=0.2"],
      [...base, "--delay", "40"],
      [...base, "--vote-scale", "10", "--ties", "1"],
    ]) {
      expect([more, await regret(...more)]).not.toEqual([more, plain]);
    }
  });
});

describe("an interruption", () => {
  const folder = mkdtempSync(join(tmpdir(), "joust-gate-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const gate = join(folder, "gate");
  const gated = join(folder, "gated.mjs");
  const policies = `random,fgts-cdb,${gated}`;
  const args = [...OWN, "--policies", policies, "--rounds", "100", "--runs", "6"];

  /** A policy that waits at its third run in each thread, as long as the file `gate` exists. */
  writeFileSync(
    gated,
    `import { existsSync, writeFileSync } from "node:fs";
    import { threadId } from "node:worker_threads";
    const gate = ${JSON.stringify(gate)};
    const memory = new Int32Array(new SharedArrayBuffer(4));
    let runs = 0;
    export default { name: "gated", summary: "", defaults: {}, create: () => {
      if (++runs > 2 && existsSync(gate)) {
        writeFileSync(gate + "." + threadId, "");
        while (existsSync(gate)) Atomics.wait(memory, 0, 0, 20);
      }
      return { choose: () => ({ pair: [0, 1] }), learn() {}, snapshot() {}, restore() {} };
    } };`,
  );

  /** Stops a process while its two threads wait at the gate: four of six runs are finished. */
  async function interrupted(out: string, signal: "SIGINT" | "SIGKILL") {
    writeFileSync(gate, "");
    const process = start([...args, "--out", out, "--threads", "2"]);
    const waiting = () => readdirSync(folder).filter((name) => name.startsWith("gate.")).length;
    await expect.poll(waiting).toBe(2);
    process.kill(signal);
    const ended = await process.end;
    for (const name of readdirSync(folder)) {
      if (name.startsWith("gate.") || name === "gate") rmSync(join(folder, name));
    }
    return ended;
  }

  it("Ctrl-C: writes the runs that all policies have, says how to continue, exits with 130", async () => {
    const out = newFolder();
    const { code, stdout, stderr } = await interrupted(out, "SIGINT");
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^joust: stopped: \d+ of 18 runs are .*runs\.jsonl\nhint: .*--resume to continue\n$/,
    );
    const { settings, policies } = withoutTimes(readFileSync(join(out, "result.json"), "utf8"));
    const runs = settings.runs as number;
    expect(runs).toBe(4);
    expect(settings.interrupted).toMatchObject({ of: 6 });
    for (const { regret } of Object.values(policies)) expect(regret.runs.length).toBe(runs);
    expect(stdout).toMatch(/Over (one run|\d runs) of 100 rounds/);

    const resumed = await joust(...args, "--out", out, "--resume", "--json");
    expect([resumed.code, resumed.stderr]).toEqual([0, ""]);
    const whole = await joust(...args, "--json");
    expect(withoutTimes(resumed.stdout)).toEqual(withoutTimes(whole.stdout));
  });

  it("a killed process: the rest gives the same result as without interruption; other settings are refused", async () => {
    const out = newFolder();
    expect((await interrupted(out, "SIGKILL")).signal).toBe("SIGKILL");
    const journal = join(out, "runs.jsonl");
    const before = readFileSync(journal, "utf8");

    const changed = await joust(...args, "--out", out, "--resume", "--vote-scale", "10");
    expect(changed.code).toBe(2);
    expect(changed.stderr).toMatch(/runs\.jsonl:1: field "voteScale": was 3, is now 10.*\nhint:/);
    expect(readFileSync(journal, "utf8")).toBe(before);

    const resumed = await joust(...args, "--out", out, "--resume");
    expect(resumed.code).toBe(0);
    const after = readFileSync(journal, "utf8");
    expect(after.startsWith(before.slice(0, before.lastIndexOf("\n") + 1))).toBe(true);
    expect(after.trim().split("\n").length).toBe(1 + 18);
    const whole = await joust(...args, "--json");
    expect(withoutTimes(readFileSync(join(out, "result.json"), "utf8"))).toEqual(
      withoutTimes(whole.stdout),
    );

    // More runs are not another simulation.
    const more = await joust(...args, "--runs", "7", "--out", out, "--resume", "--json");
    expect(withoutTimes(more.stdout).policies.random!.regret.runs.slice(0, 6)).toEqual(
      withoutTimes(whole.stdout).policies.random!.regret.runs,
    );
  });
});

describe("a folder with finished runs", () => {
  const args = [...OWN, "--policies", "random", "--runs", "2", "--rounds", "20"];

  it("is refused with a hint and left unchanged, unless the user continues or starts again", async () => {
    const out = newFolder();
    const file = join(out, "runs.jsonl");
    expect((await joust(...args, "--out", out)).code).toBe(0);
    const before = readFileSync(file, "utf8");

    const again = await joust(...args, "--out", out);
    expect([again.code, again.stdout]).toEqual([2, ""]);
    expect(again.stderr).toMatch(/holds 2 finished runs .*\nhint: add --resume .*--overwrite/);
    const other = await joust(...args, "--out", out, "--seed", "2");
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/"seed": was 1, is now 2.*\nhint: .*--overwrite/);
    expect(readFileSync(file, "utf8")).toBe(before);

    writeFileSync(file, before.replace(/"code":"[0-9a-f]{64}"/, '"code":"0"'));
    const older = await joust(...args, "--out", out, "--resume");
    expect(older.code).toBe(2);
    expect(older.stderr).toMatch(/the program has changed since .*\nhint: .*--overwrite/);

    expect((await joust(...args, "--out", out, "--seed", "2", "--overwrite")).code).toBe(0);
    const { settings } = withoutTimes(readFileSync(join(out, "result.json"), "utf8"));
    expect(settings).toMatchObject({ seed: 2, code: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});

describe("help and mistakes", () => {
  it("lists options and examples in the help", async () => {
    const { code, stdout } = await joust("simulate", "--help");
    expect(code).toBe(0);
    for (const part of [
      "Data:",
      "Voters:",
      "--told",
      "Examples:",
      "npx joust simulate",
      "fgts-cdb",
      "./mine.ts",
    ]) {
      expect(stdout).toContain(part);
    }
    const policies = await joust("policies");
    expect(policies.stdout).toMatch(
      /^fgts-cdb: .*\n {2}after .*\n {2}features=hadamard {2,}features of/m,
    );
  });

  const mistakes: [args: string[], message: string][] = [
    ...[
      "joust:horizon=900:ties=-1: ties of joust is -1\nhint: give ties 0 or more",
      "joust:alpha=2: joust no longer has the option alpha\nhint: remove it: horizon sets",
      "eagle:K=-5: K of eagle is -5\nhint: give K above 0",
      "random:explore=3: explore of the router is 3\nhint: give explore from 0 to 1",
    ].map((refusal): [string[], string] => [
      ["--policies", refusal.slice(0, refusal.indexOf(": "))],
      `--policies ${refusal}`,
    ]),
    [["--rouns", "3"], "unknown option '--rouns'\n(Did you mean"],
    [["--rounds", "1e9"], "--rounds: is 1e9, above 10000000\nhint:"],
    [["--policies", "jost"], '--policies jost: is not a policy\nhint: did you mean "joust"?'],
    [
      ["--policies", "fgts-cdb:weighting=prf"],
      "--policies fgts-cdb:weighting=prf: weighting of fgts-cdb is prf\nhint: give weighting one of perf",
    ],
    [["--policies", "./nowhere.ts"], "./nowhere.ts: does not exist"],
    [["--resume"], "--resume: needs the folder to continue in\nhint: add --out DIR"],
    [
      ["--resume", "--overwrite", "--out", "x"],
      "--overwrite: starts again, but --resume continues\nhint: give only one of them",
    ],
    [["--told", "offlin"], '--told: "offlin" is not one of'],
  ];
  it.each(mistakes)("%j: exit 2 and a hint", async (args, message) => {
    const { code, stdout, stderr } = await joust(...OWN, ...args);
    expect(stderr.slice(0, message.length + 7)).toBe(`joust: ${message}`);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("an unknown command, or none, gets a suggestion or the help", async () => {
    const unknown = await joust("simulat");
    expect(unknown.stderr).toBe(
      "joust: unknown command 'simulat'\n(Did you mean simulate?)\nhint: run npx joust --help\n",
    );
    expect(unknown.code).toBe(2);
    expect(await joust("simulat", "--help")).toEqual(unknown);
    expect(await joust("help", "simulat")).toEqual(unknown);
    const none = await joust();
    expect(none.stderr).toMatch(/^Usage: joust .*simulate/s);
  });

  it("a failing policy of the user: one line with the place in the file and how to continue", async () => {
    const folder = newFolder();
    const file = join(folder, "broken.mjs");
    const policy = (choose: string) =>
      `export default { name: "broken", summary: "", defaults: {}, create: () => ({
        choose() { ${choose} },
        learn() {}, snapshot() {}, restore() {} }) };`;
    writeFileSync(file, policy('throw new TypeError("no such model");'));
    const out = join(folder, "out");
    const args = [...OWN, "--policies", `random,${file}`, "--runs", "2", "--out", out];
    const { code, stdout, stderr } = await joust(...args, "--threads", "1");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^joust: --policies broken\.mjs: failed in run \d: TypeError: no such model \(at broken\.mjs:2:\d+\)\nhint: correct it; finished runs are kept in .*runs\.jsonl: the same command with --resume continues\n$/,
    );
    // A corrected policy gets new runs; the runs of the other policies are kept.
    writeFileSync(file, policy("return { pair: [0, 1] };"));
    const corrected = await joust(...args, "--resume");
    expect([corrected.code, corrected.stderr]).toEqual([0, ""]);

    writeFileSync(file, policy("return { pair: [0, 99] };"));
    const pair = await joust(...OWN, "--policies", file);
    expect(pair.stderr).toMatch(/chose the pair \[0,99\].*\nhint: choose returns .*add --out DIR/);
  });

  it("the output of a policy goes to standard error", async () => {
    const file = join(newFolder(), "chatty.mjs");
    writeFileSync(
      file,
      `console.log("hello"); export default { name: "chatty", summary: "", defaults: {}, create: () => ({
        choose() { console.log("hm"); process.stdout.write("hm\\n"); return { pair: [0, 1] }; },
        learn() {}, snapshot() {}, restore() {} }) };`,
    );
    const args = ["--policies", file, "--runs", "1", "--rounds", "5", "--json"];
    const { code, stdout, stderr } = await joust(...OWN, ...args);
    expect(code).toBe(0);
    expect(withoutTimes(stdout).settings.rounds).toBe(5);
    expect(stderr).toMatch(/^hello\n.*(hm\n){10}$/s);
  });

  it("a timer of a policy does not delay the end", async () => {
    const file = join(newFolder(), "restless.mjs");
    writeFileSync(
      file,
      `setInterval(() => {}, 1000); export default { name: "restless", summary: "", defaults: {},
        create: () => { setInterval(() => {}, 1000); return {
          choose: () => ({ pair: [0, 1] }), learn() {}, snapshot() {}, restore() {} }; } };`,
    );
    const args = ["--policies", file, "--runs", "1", "--rounds", "5", "--json"];
    const { code, stdout } = await joust(...OWN, ...args);
    expect(code).toBe(0);
    expect(withoutTimes(stdout).settings.rounds).toBe(5);
    expect((await joust("policies", file)).stdout).toMatch(/^restless/);
  });
});

describeWithPublicData("public data", () => {
  it("RouterBench with MiniLM's vectors: 7550 queries, 10 models", async () => {
    const { code, stdout } = await joust(
      "simulate",
      publicData("routerbench-queries/queries.jsonl.gz"),
      ...OWN.slice(2),
      "--embeddings",
      publicData("minilm-embeddings/routerbench-queries.npy"),
      "--policies",
      "joust,zero-feedback,best-fixed,random,oracle",
      "--json",
    );
    expect(code).toBe(0);
    const { settings, policies } = withoutTimes(stdout);
    expect(settings).toMatchObject({ queries: 7550, rounds: 1000, dimension: 384 });
    expect(policies.oracle!.regret.mean).toBe(0);
    expect(policies.joust!.regret.mean).toBeLessThan(policies["best-fixed"]!.regret.mean);
    expect(policies["best-fixed"]!.regret.mean).toBeLessThan(policies.random!.regret.mean);
  });

  it.each([
    ["outcomes", "llmrouter-9models/llmrouter_9models.jsonl.gz", []],
    [
      "comparisons without GPT-4",
      "qlora-gpt4-pairwise/oa953_7models_gpt4_pairwise.jsonl.gz",
      ["--exclude", "gpt-4"],
    ],
  ])("%s: told from the offline queries", async (_, file, more) => {
    const { code, stdout, stderr } = await joust(
      "simulate",
      publicData(file),
      ...more,
      ...["--policies", "joust,random", "--rounds", "300", "--runs", "2", "--json"],
    );
    expect([code, stderr]).toEqual([0, ""]);
    const { settings, policies } = withoutTimes(stdout);
    expect(settings.told).toEqual({ kind: "offline" });
    expect(policies.joust!.regret.mean).toBeLessThan(policies.random!.regret.mean);
  });
});
