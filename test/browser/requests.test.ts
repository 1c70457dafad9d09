import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { newDecisionId } from "../../src/store/decision-id.ts";
import type { DecisionEvent } from "../../src/store/events.ts";
import { seal } from "../../src/store/seal.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

const COUNT = 3000;

/** Requests of the last hours. Every thousandth failed, and the others took n milliseconds. */
async function fill(folder: string): Promise<void> {
  const store = await openSqlite(join(folder, "joust.db"));
  const now = Date.now();
  const events = Array.from({ length: COUNT }, (_, n): DecisionEvent[] => {
    const at = now - 2000 * (COUNT - n);
    const id = newDecisionId(at);
    const isFailed = n % 1000 === 500;
    const model = n % 3 === 0 ? "pebble-mini" : "forge-coder";
    const common = { router: "auto", at };
    return [
      {
        kind: "routed",
        ...common,
        id,
        mode: "apply",
        encoder: "none",
        x: new Float64Array(4),
        candidates: ["pebble-mini", "forge-coder"],
        pair: [model, model],
        propensity: 1,
        seed: n,
        version: 0,
        lambda: 1,
        prompt: seal(`Question number ${n}.`, id, undefined),
      },
      {
        kind: "answered",
        ...common,
        decision: id,
        slot: 0,
        model,
        status: isFailed ? "failed" : "ok",
        inputTokens: 50,
        outputTokens: 100,
        cost: 0.0002,
        latencyMs: n,
        ...(isFailed && {
          error: "forge-coder responded with status 500",
          fallbacks: [
            { model: "pebble-mini", reason: "pebble-mini did not respond within 30 seconds" },
          ],
        }),
      },
    ];
  });
  await store.record(events.flat());
  await store.close();
}

describeInChromium("requests", ({ open, context }) => {
  const gateway = serve(() => ({ store: { prompts: true } }), fill);

  const results = (page: Page) =>
    page.getByRole("region", { name: "Results" }).last().getByRole("link");

  it("are found by outcome, model, time and text, and a request tells its whole story", async () => {
    const page = await open(`${gateway.url}/#/requests`);
    await page.getByRole("status").getByText("100 requests, searched back to").waitFor();
    await page.getByLabel("Outcome").selectOption("failed");
    await page.getByRole("status").getByText("3 requests.").waitFor();
    await results(page).first().click();
    await page.getByText("pebble-mini did not respond within 30 seconds").first().waitFor();
    await page.getByText("forge-coder responded with status 500").first().waitFor();
    // The browser's back button returns to the same search.
    await page.goBack();
    await page.getByRole("status").getByText("3 requests.").waitFor();
    expect(await page.getByLabel("Outcome").inputValue()).toBe("failed");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("status").getByText("100 requests, searched back to").waitFor();
    await page.getByLabel("Duration in seconds, at least").fill("2.99");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("10 requests.").waitFor();
    await page.getByLabel("Model", { exact: true }).selectOption("pebble-mini");
    await page.getByRole("status").getByText("3 requests.").waitFor();
    await page.goto(`${gateway.url}/#/requests?text=NUMBER%201234.`);
    await page.getByRole("status").getByText("1 request.").waitFor();
    await page.goto(`${gateway.url}/#/requests?text=nothing+like+this`);
    await page.getByText("No request meets all conditions.").waitFor();
  });

  it("can be searched and opened with the keyboard alone", async () => {
    const page = await open(`${gateway.url}/#/requests`);
    await results(page).first().waitFor();
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement)?.id);
    const outcome = await page.getByLabel("Outcome").getAttribute("id");
    for (let i = 0; (await focused()) !== outcome && i < 40; i++) await page.keyboard.press("Tab");
    await page.keyboard.type("Fail");
    await page.getByRole("status").getByText("3 requests.").waitFor();
    // The control keeps the focus, so that the search can be refined.
    expect(await focused()).toBe(outcome);
    const isResult = () =>
      page.evaluate(() => document.activeElement?.getAttribute("href")?.startsWith("#/decisions/"));
    for (let i = 0; !(await isResult()) && i < 40; i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Decision", exact: true }).waitFor();
  });

  it("are exported as a file", async () => {
    const page = await open(`${gateway.url}/#/requests?outcome=failed`);
    await page.getByRole("status").getByText("3 requests.").waitFor();
    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe("joust-requests.csv");
    const lines = (await readFile(await csv.path(), "utf8")).trim().split("\r\n");
    expect(lines.map((line) => line.split(",")[7])).toEqual([
      "status",
      "failed",
      "failed",
      "failed",
    ]);
    const [json] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export JSON" }).click(),
    ]);
    expect(JSON.parse(await readFile(await json.path(), "utf8"))).toHaveLength(3);
  });

  it("load while scrolling, and only the rows in view are in the page", async () => {
    const narrow = await context({ viewport: { width: 360, height: 740 } });
    const page = await narrow.newPage();
    await page.goto(`${gateway.url}/#/requests`);
    const list = page.getByRole("region", { name: "Results" }).last();
    await list.getByRole("link").first().waitFor();
    const size = () => list.getByRole("listitem").first().getAttribute("aria-setsize").then(Number);
    await expect
      .poll(async () => {
        await list.evaluate((box) => {
          box.scrollTop = box.scrollHeight;
        });
        return size();
      })
      .toBe(COUNT);
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
  });
});
