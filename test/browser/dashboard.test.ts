import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { ask, canVote } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";

describeInChromium("dashboard", ({ open }) => {
  const gateway = serve(() => ({
    sandbox: { speed: 100 },
    // Between two of the settings that the gateway evaluates.
    routers: { auto: { cost_quality_tradeoff: 3.2 } },
  }));

  const voters = (page: Page) => page.getByRole("switch");

  async function duelAndVote(winner: 0 | 1): Promise<void> {
    const messages = [{ role: "user", content: "What is 6 times 7?" }];
    const { id } = await gateway.client.chat({ model: "auto", messages, joust: { duel: true } });
    await gateway.client.vote({ id, winner });
  }

  it("counts and lists new votes without a reload", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    // Before the first request there is nothing to judge, and no estimate to show.
    await page.getByRole("heading", { name: "No requests yet" }).waitFor();
    await page.getByRole("row", { name: /^summit-pro no recent calls/ }).waitFor();
    for (const name of ["Leaderboard", "Quality by category", "Is it saving?"]) {
      expect([name, await page.getByRole("heading", { name }).count()]).toEqual([name, 0]);
    }
    await duelAndVote(0);
    await page.getByText("1 vote of all voters in this time window").waitFor();
    await duelAndVote(1);
    await page.getByText("2 votes of all voters in this time window").waitFor();
    const rows = page.getByRole("region", { name: "Decisions" }).last().getByRole("link");
    await expect.poll(() => rows.count()).toBe(2);
    await rows
      .first()
      .getByText(/preferred$/)
      .waitFor();
  });

  it("says that the numbers cannot be read, and reads them again without an event", async () => {
    const page = await open("about:blank");
    const body = JSON.stringify({ error: { message: "the store is unavailable" } });
    await page.route("**/v1/stats?*", (route) => route.fulfill({ status: 503, body }));
    await page.goto(`${gateway.url}/#/dashboard`);
    await page.getByRole("alert").getByText("the store is unavailable").waitFor();
    await page.unroute("**/v1/stats?*");
    await page.getByRole("heading", { name: "Leaderboard" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("a late response does not replace a newer one on the page of a decision", async () => {
    const messages = [{ role: "user", content: "What is 6 times 7?" }];
    const { id } = await gateway.client.chat({ model: "auto", messages, joust: { duel: true } });
    const page = await open("about:blank");
    const { promise: isVoted, resolve: answer } = Promise.withResolvers<void>();
    const first = page.waitForRequest("**/v1/decisions/*");
    await page.route(
      "**/v1/decisions/*",
      async (route) => {
        const response = await route.fetch();
        await isVoted;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await page.goto(`${gateway.url}/#/decisions/${id}`);
    await first;
    await page.getByTitle("Live").waitFor();
    await gateway.client.vote({ id, winner: 0 });
    const votes = page.getByRole("region", { name: "Votes" });
    await votes.getByText(/ preferred$/).waitFor();
    answer();
    await (await (await first).response())!.finished();
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    expect(await votes.getByText(/ preferred$/).count()).toBe(1);
  });

  it("the page of a decision that does not exist shows nothing of the one before", async () => {
    const messages = [{ role: "user", content: "What is 6 times 7?" }];
    const { id } = await gateway.client.chat({ model: "auto", messages });
    const page = await open(`${gateway.url}/#/decisions/${id}`);
    const panels = page.getByRole("region");
    await panels.first().waitFor();
    const missing = page.waitForResponse("**/v1/decisions/missing");
    await page.evaluate(() => {
      location.hash = "#/decisions/missing";
    });
    await (await missing).finished();
    await expect.poll(() => panels.count()).toBe(0);
    await page.getByText("there is no decision with this id").waitFor();
  });

  it("simulated voters vote when they are switched on, and estimates are compared with the true quality", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    await page.getByLabel("Voting speed").selectOption("600");
    await voters(page).click();
    const cast = page.getByText(/^\d+ votes cast by simulated voters$/);
    const count = async () => Number.parseInt((await cast.textContent()) ?? "", 10);
    await expect.poll(count).toBeGreaterThan(20);
    await page.getByRole("heading", { name: "Estimated and true quality" }).waitFor();
    await voters(page).click();
    await page.getByRole("switch", { checked: false }).waitFor();
    expect(await gateway.client.voters()).toMatchObject({ on: false });
  });

  it("a thousand simulated votes start with one click and compare routing with the best model", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    await page.getByRole("button", { name: /^Cast 1,000/ }).click();
    await page.getByRole("progressbar", { name: /of 1,000 votes$/ }).waitFor();
    await page
      .getByText(/compared with always using summit-pro, routing now gives .* and costs/)
      .waitFor();
    const table = page.getByRole("region", { name: "Before and after" });
    await table.getByRole("row", { name: /^Routing, first votes \d+% \$/ }).waitFor();
    await table.getByRole("row", { name: /^Always summit-pro \d+% \$/ }).waitFor();
    await page.getByRole("img", { name: /^Right answers by votes cast, simulated/ }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Cast 1,000 more votes" }).waitFor();
    expect(await gateway.client.voters()).toMatchObject({ on: false, stop_at: null });
  });

  it("the trade-off shows its effect and is then used in the arena", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    const slider = page.getByRole("slider");
    await slider.waitFor();
    expect(await page.getByText("This is the current setting of the router.").count()).toBe(1);
    await slider.fill("10");
    await page.getByText(/cheaper|more expensive|Same cost/).waitFor();
    await page.getByRole("button", { name: "Use 10 for my questions in the arena" }).click();
    await page.getByRole("link", { name: "Arena" }).click();
    const sent = page.waitForRequest("**/v1/chat/completions");
    await ask(page, "What is 7 times 8?");
    expect((await sent).postDataJSON()).toMatchObject({ joust: { cost_quality_tradeoff: 10 } });
    await canVote(page);
  });

  it("a click on the map opens a decision", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    const map = page.getByRole("img", { name: /^Map of \d+ prompt/ });
    await map.locator("canvas").waitFor();
    await map.scrollIntoViewIfNeeded();
    // The chart may be redrawn between finding a point and clicking it, so both are repeated.
    const decision = page.getByRole("heading", { name: "Decision", exact: true });
    await expect
      .poll(async () => {
        const point = await map.evaluateAll(findPoint);
        if (point) await page.mouse.click(point.x, point.y);
        return decision.count();
      })
      .toBe(1);
    expect(page.url()).toContain("#/decisions/");
  });

  it("a decision in the list opens its page, which gives the reasons", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    const row = page.getByRole("region", { name: "Decisions" }).last().getByRole("link").last();
    await row.click();
    await page.getByRole("heading", { name: "Decision", exact: true }).waitFor();
    await page
      .getByRole("listitem")
      .getByText(/^The prompt looks like/)
      .waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
  });
});

/** Runs in the page: moves the pointer over a chart until it is over something that can be clicked. */
function findPoint([chart]: Element[]): { x: number; y: number } | undefined {
  const canvas = chart?.querySelector("canvas");
  if (!canvas) return undefined;
  const { left, top, right, bottom } = canvas.getBoundingClientRect();
  // A click reaches only what is in the window and not under the header.
  const header = document.querySelector("header")!.getBoundingClientRect();
  const end = Math.min(bottom, innerHeight);
  for (let y = Math.max(top, header.bottom); y < end; y += 4) {
    for (let x = left; x < right; x += 4) {
      const at = { clientX: x, clientY: y, bubbles: true };
      canvas.dispatchEvent(new MouseEvent("mousemove", at));
      if (canvas.parentElement!.style.cursor === "pointer") return { x, y };
    }
  }
  return undefined;
}
