import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { cutOff, SCREENS, seriousViolations } from "./accessibility.fixture.ts";
import {
  attachImage,
  canVote,
  saveVote,
  sendVote,
  suggestions,
  voteIsSaved,
} from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { type Served, serve } from "./gateway.fixture.ts";

/** The pages, each with some content. */
const PAGES = [
  { name: "empty arena", open: async () => {} },
  {
    name: "arena with a vote",
    open: async (page: Page) => {
      await suggestions(page).first().click();
      await canVote(page);
      await page.keyboard.press("1");
      await saveVote(page);
      await page.getByText(/^Since your vote, the estimate/).waitFor();
    },
  },
  {
    name: "dashboard",
    open: async (page: Page, { url, client }: Served) => {
      // The colours of the heat map are strong only after many votes.
      if ((await client.voters()).cast === 0) {
        await client.setVoters({ on: true, votes_per_minute: 6000, stop_after: 300 });
        await expect.poll(async () => (await client.voters()).on).toBe(false);
      }
      await page.goto(`${url}/#/dashboard`);
      await page.getByRole("heading", { name: "Map of prompts" }).waitFor();
      await page.getByRole("img", { name: /^Quality by cost/ }).waitFor();
      await page
        .getByRole("region", { name: "Decisions" })
        .last()
        .getByRole("link")
        .first()
        .waitFor();
    },
  },
  {
    name: "requests",
    open: async (page: Page, { url }: Served) => {
      await page.goto(`${url}/#/requests?hours=custom`);
      await page.getByRole("region", { name: "Results" }).getByRole("link").first().waitFor();
    },
  },
  {
    name: "decision",
    open: async (page: Page, { url, client }: Served) => {
      const { data } = await client.decisions();
      await page.goto(`${url}/#/decisions/${data[0]!.id}`);
      await page.getByRole("heading", { name: "Candidates" }).waitFor();
    },
  },
  {
    name: "setup",
    open: async (page: Page, { url }: Served) => {
      await page.goto(`${url}/#/setup`);
      await page.getByText("This is the sandbox").waitFor();
    },
  },
  {
    name: "arena with options, an image, a held vote and the history",
    open: async (page: Page) => {
      await suggestions(page).first().click();
      await canVote(page);
      await page.keyboard.press("2");
      await page.getByRole("button", { name: "Clearer" }).click();
      await page.getByRole("button", { name: "Options", exact: true }).click();
      await page.getByRole("region", { name: "Options" }).waitFor();
      await attachImage(page);
      await page.getByRole("button", { name: "History" }).click();
      await page.getByRole("dialog", { name: "History" }).waitFor();
    },
  },
] as const;

describeInChromium("accessibility", ({ context }) => {
  const gateway = serve(() => ({ sandbox: { speed: 50 } }));

  describe.each(SCREENS)("$colorScheme, $viewport.width px", ({ colorScheme, viewport }) => {
    it.each(PAGES)(
      "$name: no serious accessibility violation, nothing is cut off",
      async ({ open }) => {
        const page = await (await context({ colorScheme, viewport })).newPage();
        await page.goto(gateway.url);
        await open(page, gateway);
        expect(await seriousViolations(page)).toEqual([]);
        expect(await cutOff(page)).toEqual([]);
      },
    );
  });

  it("a question and a vote by keyboard alone", async () => {
    const page = await (await context()).newPage();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await page.goto(`${gateway.url}/#/dashboard`);
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    // The arena starts in the field for the question.
    await page.goto("about:blank");
    await page.goto(gateway.url);
    await suggestions(page).first().waitFor();
    await page.keyboard.type("What is 2 + 2?");
    await page.keyboard.press("Enter");
    await canVote(page);
    await page.keyboard.press("3");
    await page.getByRole("button", { name: "Show the models" }).waitFor();
    expect(await focused()).toContain("Show the models");
    await page.keyboard.press("Enter");
    await voteIsSaved(page);
    expect(await focused()).toContain("Next question");
  });

  it("announces the progress of the answers to a screen reader", async () => {
    const page = await (await context()).newPage();
    await page.goto(gateway.url);
    await suggestions(page).first().click();
    const log = page.getByRole("log");
    for (const message of ["Two answers are on their way.", "Answer A is finished."]) {
      await log.getByText(message).waitFor();
    }
    await log.getByText("Answer B is finished.").waitFor();
    await page.keyboard.press("1");
    await sendVote(page);
    await log.getByText("Your vote is saved.").waitFor();
    expect(await log.getByRole("paragraph").count()).toBe(4);
  });
});
