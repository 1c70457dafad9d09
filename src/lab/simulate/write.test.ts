import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { Random } from "../../core/random/random.ts";
import { refuseForeign } from "./files.ts";
import { reportHtml } from "./report.ts";
import { sampleResult, TWENTY } from "./sample.case.ts";
import { writeReport } from "./write.ts";

const random = Random.seeded(1);

describe("report.html", () => {
  const html = reportHtml(sampleResult({ regrets: TWENTY }, random));

  test("needs no other file and runs no script", () => {
    expect(html).not.toMatch(
      /<script|<link|@import|<img|<iframe|\ssrc=|href=(?!"#)|url\(|\son\w+=/,
    );
    expect(html.match(/https?:\/\/[^"'\s<]*/g)).toBeNull();
  });

  test("holds summary, both figures, one row per policy and the settings", () => {
    expect(html).toContain("joust has the lowest mean regret");
    expect(html.match(/<svg/g)!.length).toBe(2);
    expect(html.match(/<th scope=row>/g)!.length).toBe(20);
    expect(html).toContain("<dt>told</dt><dd>scores</dd>");
    const told = { kind: "noisy", sd: 0.1 };
    const policies = { joust: { kind: "joust", options: { horizon: 600, ties: 1 } } };
    const own = reportHtml({
      schema: 1,
      settings: { told, models: ["a", "b"], policies },
      policies: {},
    });
    expect(own).toContain("<dt>told</dt><dd>noisy, sd 0.1</dd>");
    expect(own).toContain("<dt>models</dt><dd>a, b</dd>");
    expect(own).toContain("<dt>policy joust</dt><dd>joust, horizon 600, ties 1</dd>");
    expect(html).toContain("<dt>seed</dt><dd>1</dd>");
    expect(html).toMatch(/@media print/);
    expect(html).toMatch(/prefers-color-scheme: dark/);
  });

  test("a name like <script> is escaped everywhere", () => {
    const result = sampleResult({ regrets: { "<script>alert(1)</script>": 1, joust: 2 } }, random);
    const page = reportHtml({
      ...result,
      settings: { data: "<script>", "<b>": ["</dd><script>"] },
    });
    expect(page).not.toContain("<script");
    expect(page).not.toContain("<b>:");
  });

  test("explains only the terms that it uses", () => {
    expect(html).toContain("<b>zero-feedback</b> uses no votes");
    expect(html).not.toContain("<b>regret of scores</b>");
    const { policies, ...rest } = sampleResult({ regrets: { a: 1 }, costs: false }, random);
    const a = policies.a!;
    const priced = { ...a, regretPerf: { ...a.regretPerf, mean: 9 } };
    const other = reportHtml({ ...rest, policies: { a: priced } });
    expect(other).not.toContain("zero-feedback");
    expect(other).not.toContain("<b>Cost</b>");
    expect(other).toContain("<b>regret of scores</b>");
  });

  test("has no Pareto figure without costs, and is a page even without rounds", () => {
    const free = reportHtml(sampleResult({ regrets: TWENTY, costs: false }, random));
    expect(free.match(/<svg/g)!.length).toBe(1);
    expect(reportHtml({ schema: 1, settings: {}, policies: {} })).toContain(
      "Nothing was simulated",
    );
  });
});

describe("writeReport", () => {
  let dir = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "joust-report-"));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test("writes every file, leaves no draft, and result.json is the result", async () => {
    const result = sampleResult({ regrets: TWENTY }, random);
    await writeReport(dir, result);
    const files = await readdir(dir);
    expect(files.sort()).toEqual([
      "paired.csv",
      "paired.tex",
      "pareto.svg",
      "regret.svg",
      "report.html",
      "result.json",
      "table.csv",
      "table.tex",
    ]);
    const text = await readFile(join(dir, "result.json"), "utf8");
    expect(JSON.parse(text)).toEqual(result);
  });

  test("files that no simulation wrote are not overwritten", async () => {
    await refuseForeign(join(dir, "new"));
    await writeFile(join(dir, "notes.txt"), "");
    await refuseForeign(dir);
    await writeFile(join(dir, "report.html"), "");
    await expect(refuseForeign(dir)).rejects.toThrow(
      errorText(
        /^--out: .* has report\.html but no runs\.jsonl.*; hint: choose another folder, or add --overwrite/,
      ),
    );
    await writeFile(join(dir, "runs.jsonl"), "");
    await refuseForeign(dir);
  });

  test("the Pareto figure of an earlier result is removed if there are no costs", async () => {
    await writeReport(dir, sampleResult({ regrets: TWENTY }, random));
    await writeReport(dir, sampleResult({ regrets: TWENTY, costs: false }, random));
    expect(await readdir(dir)).not.toContain("pareto.svg");
  });

  test("paired.tex holds all pairs, or those of the best policy if there are too many", async () => {
    const rows = async () =>
      (await readFile(join(dir, "paired.tex"), "utf8")).match(/\\\\$/gm)!.length - 1;
    await writeReport(dir, sampleResult({ regrets: { a: 1, b: 2, c: 3 } }, random));
    expect(await rows()).toBe(3);
    await writeReport(dir, sampleResult({ regrets: TWENTY }, random));
    expect(await rows()).toBe(19);
  });
});
