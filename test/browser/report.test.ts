/** The report of `joust reproduce` on a phone, in the dark and on paper; its contents and anchors. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import suite from "../../src/lab/experiments/index.ts";
import { figure, htmlPage } from "../../src/lab/report/page.ts";
import { recordOf } from "../../src/lab/reproduce/record.ts";
import { plan } from "../../src/lab/reproduce/reproduce.ts";
import { inventedResults, newPlanner, STATIC } from "../../src/lab/reproduce/results.fixture.ts";
import { writeReport } from "../../src/lab/reproduce/write-report.ts";
import { seriousViolations } from "./accessibility.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";

describeInChromium("the report of a reproduction", ({ context }) => {
  const folder = mkdtempSync(join(tmpdir(), "joust-report-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const url = pathToFileURL(join(folder, "report.html")).href;
  beforeAll(async () => {
    const { data, size } = await newPlanner();
    const encoders = { here: [STATIC], absent: [] };
    const names = suite.experiments.map(({ name }) => name);
    const planned = await plan(suite, names, { data, encoders, size, seed: 1 });
    const results = inventedResults(planned.planner);
    const judged = suite.claims.map((claim) => ({ claim, ...claim.test(results) }));
    const reproduced = { ...planned, results, judged };
    const record = recordOf(reproduced, { command: "joust reproduce all", encoders, version: "1" });
    await writeReport(folder, reproduced, record);
  });

  /** Width of the page, and of its widest table that scrolls by itself. */
  const widths = () => ({
    page: document.documentElement.scrollWidth,
    table: Math.max(...[...document.querySelectorAll(".wide")].map((one) => one.scrollWidth)),
  });
  /** Brightness, 0 to 255, of the page and of the texts of figures. */
  const brightness = () => {
    const of = (color: string) =>
      Math.max(...(color.match(/\d+(\.\d+)?/g) ?? []).slice(0, 3).map(Number));
    const texts = [...document.querySelectorAll("svg text.label")];
    return {
      page: of(getComputedStyle(document.body).backgroundColor),
      labels: texts.map((text) => of(getComputedStyle(text).fill)),
    };
  };

  it("fits a phone: tables scroll, the page does not", async () => {
    const page = await (await context({ viewport: { width: 390, height: 800 } })).newPage();
    await page.goto(url);
    const found = await page.evaluate(widths);
    expect(found.page).toBe(390);
    expect(found.table).toBeGreaterThan(390);
  });

  it("keeps the size of a large figure on a phone, where it scrolls", async () => {
    const picture = { title: "Regret", width: 743, height: 458, body: "<text>Regret</text>" };
    const section = { id: "regret", title: "Regret", html: figure([picture], "By round.") };
    const page = await (await context({ viewport: { width: 360, height: 740 } })).newPage();
    await page.setContent(htmlPage({ title: "A report", opening: "", sections: [section] }));
    const box = await page.getByRole("img", { name: "Regret" }).boundingBox();
    // Its texts would be too small otherwise.
    expect(box!.width).toBe(640);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it("has contents and headings whose links lead to their parts, and no accessibility violation", async () => {
    const page = await (await context({ viewport: { width: 390, height: 800 } })).newPage();
    await page.goto(url);
    const names = ["Claims", ...suite.experiments.map(({ title }) => title), "Settings"];
    const contents = page.getByRole("navigation", { name: "Contents" });
    for (const name of names) {
      const target = await contents.getByRole("link", { name }).first().getAttribute("href");
      const heading = page.locator(target!);
      expect(await heading.getByRole("link").getAttribute("href")).toBe(target);
    }
    await contents.getByRole("link", { name: "Settings", exact: true }).click();
    // The heading is in view and not under the bar.
    const top = await page.locator("#versions").evaluate((one) => one.getBoundingClientRect().top);
    expect(top).toBeGreaterThan(50);
    expect(top).toBeLessThan(800);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it("is light on dark if the reader wants it, figures included, and dark on white on paper", async () => {
    const page = await (await context({ colorScheme: "dark" })).newPage();
    await page.goto(url);
    const dark = await page.evaluate(brightness);
    expect(dark.page).toBeLessThan(40);
    expect(dark.labels.length).toBeGreaterThan(20);
    expect(Math.min(...dark.labels)).toBeGreaterThan(140);
    await page.emulateMedia({ media: "print" });
    const paper = await page.evaluate(brightness);
    expect(paper.page).toBe(255);
    expect(Math.max(...paper.labels)).toBeLessThan(200);
  });
});
