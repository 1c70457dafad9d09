import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { SCREENS, seriousViolations } from "./accessibility.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { type Served, serve } from "./gateway.fixture.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const row = (page: Page, name: RegExp) => page.getByRole("row", { name });
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");

/** Three votes of each voter, all for the answer shown first. Returns the position of the last one in the log. */
async function vote({ client }: Served, ...voters: readonly string[]): Promise<number> {
  const positions = await Promise.all(
    voters.flatMap((voter) =>
      [1, 2, 3].map(async (n) => {
        const messages = [{ role: "user", content: `Question ${n} of ${voter}: why?` }];
        const { id } = await client.chat({ model: "auto", messages, joust: { duel: true } });
        await client.vote({ id, winner: 0, voter });
        return (await client.decision(id)).votes[0]!.position!;
      }),
    ),
  );
  return Math.max(...positions);
}

async function standings({ client }: Served) {
  const { leaderboard } = await client.stats();
  return leaderboard.overall.map(({ model, value, sd }) => ({ model, value, sd }));
}

describeInChromium("voters", ({ open, context }) => {
  const gateway = serve("store");
  const visit = () => open(`${gateway.url}/#/admin/learning`);

  it("are listed, excluded and included again, and the standings follow", async () => {
    const last = await vote(gateway, "ann", "bob", "mallory");
    const version = async () => (await gateway.client.stats()).posterior_version;
    await expect.poll(version, { timeout: 120_000 }).toBeGreaterThanOrEqual(last);
    const taught = await standings(gateway);
    const page = await visit();
    for (const name of ["ann", "bob", "mallory"]) {
      await row(page, new RegExp(`^${name} 3 .* counts fully`)).waitFor();
    }
    await button(page, "Exclude mallory").click();
    await page.getByText("mallory is excluded.").waitFor();
    await row(page, /^mallory 3 .* not used excluded since /).waitFor();
    await row(page, /^ann 3 .* counts fully/).waitFor();
    await expect.poll(() => standings(gateway), { timeout: 120_000 }).not.toEqual(taught);
    await button(page, "Include mallory").click();
    await page.getByText("mallory is included.").waitFor();
    await row(page, /^mallory 3 .* counts fully.* 1 Exclude/).waitFor();
    await expect.poll(() => standings(gateway), { timeout: 120_000 }).toEqual(taught);
  });

  it("are weighed and forgotten by keyboard alone, and the history tells what was done", async () => {
    const page = await visit();
    await button(page, "Exclude bob").waitFor();
    for (let stops = 0; stops < 100 && (await focused(page)) !== "Exclude bob"; stops++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await row(page, /^bob 3 .* excluded since /).waitFor();
    expect(await focused(page)).toBe("Include bob");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Weigh bob");
    await page.keyboard.press("Enter");
    await page.getByLabel("Weight of bob").and(page.locator("input:focus")).waitFor();
    await page.keyboard.press("Escape");
    await button(page, "Weigh bob").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("input:focus").fill("0.5");
    await page.keyboard.press("Enter");
    await row(page, /^bob 3 .* 0\.5 since /).waitFor();
    await button(page, "Weigh bob").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Really forget bob");
    // Another control takes the confirmation back.
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Forget bob");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByText("bob is forgotten: 3 votes were erased.").waitFor();
    await row(page, /^bob/).waitFor({ state: "detached" });
    await page.getByRole("status").and(page.locator(":focus")).waitFor();
    await page.goto(`${gateway.url}/#/admin/history`);
    await page.getByText("Forgot a voter of").waitFor();
    expect(await page.getByText("Weighed a voter of").count()).toBe(4);
    for (const details of await page.getByText("Before and after").all()) await details.click();
    const after = await page.getByRole("region", { name: "After" }).allTextContents();
    expect(after.join()).toContain("mallory");
    expect(after.join()).not.toContain("bob");
  });

  it("are shown page by page", async () => {
    const names = Array.from({ length: 24 }, (_, n) => `guest-${String(n).padStart(2, "0")}`);
    const messages = [{ role: "user", content: "Why?" }];
    await Promise.all(
      names.map(async (voter) => {
        const { id } = await gateway.client.chat({
          model: "auto",
          messages,
          joust: { duel: true },
        });
        await gateway.client.vote({ id, winner: 0, voter });
      }),
    );
    const page = await visit();
    await row(page, /^guest-23/).waitFor();
    expect(await row(page, /^mallory/).count()).toBe(0);
    await button(page, "Next voters").click();
    await row(page, /^mallory/).waitFor();
    expect(await row(page, /^guest-23/).count()).toBe(0);
    await button(page, "Previous voters").click();
    await row(page, /^ann/).waitFor();
  });

  describe.each(SCREENS)("$colorScheme, $viewport.width px", ({ colorScheme, viewport }) => {
    it("have no serious accessibility violation, and nothing is cut off", async () => {
      const page = await (await context({ colorScheme, viewport })).newPage();
      await page.goto(`${gateway.url}/#/admin/learning`);
      await button(page, "Exclude ann").click();
      await row(page, /^ann 3 .* excluded since /).waitFor();
      await button(page, "Weigh ann").click();
      await page.getByLabel("Weight of ann").first().waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBe(viewport.width);
      await page.getByRole("button", { name: "Cancel" }).click();
      await button(page, "Include ann").click();
      await row(page, /^ann 3 .* 1 Exclude/).waitFor();
    });
  });
});
