import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { canVote, sendVote, suggestions, voteIsSaved } from "./arena.fixture.ts";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { FakeProvider } from "./provider.fixture.ts";

/** Tab stops of a page: how many there are, and what is wrong with the way through them. */
interface Walk {
  readonly stops: number;
  readonly problems: readonly string[];
}

describeInChromium("the keyboard alone", ({ context, open }) => {
  const provider = new FakeProvider();
  const gateway = serve("store", undefined, () => ({ OPENAI_BASE_URL: provider.url }));
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { activeElement: now } = document;
      return now?.getAttribute("aria-label") ?? now?.textContent?.trim() ?? "";
    });

  /** Presses a key for each character of `keys`, and returns how many were pressed. */
  async function press(page: Page, ...keys: string[]): Promise<number> {
    for (const key of keys) await page.keyboard.press(key);
    return keys.length;
  }

  it("from a provider key in the clipboard to a counted vote: 8 keys and a paste", async () => {
    const page = await open(gateway.url);
    await page.getByRole("region", { name: "First start" }).waitFor();
    await page.getByRole("link", { name: "Paste a provider key" }).focus();
    let keys = await press(page, "Enter");
    await page.getByLabel("Provider key").and(page.locator(":focus")).waitFor();
    await page.keyboard.insertText(provider.key);
    keys += await press(page, "Enter");
    await page.getByRole("link", { name: "Ask a question" }).and(page.locator(":focus")).waitFor();
    keys += await press(page, "Enter");
    await page.getByRole("main").and(page.locator(":focus")).waitFor();
    await suggestions(page).first().waitFor();
    // The field for the question is the first stop of the page, and the suggestions follow.
    keys += await press(page, "Tab");
    await page.getByLabel("Your question").and(page.locator(":focus")).waitFor();
    keys += await press(page, "?", "Enter");
    await canVote(page);
    keys += await press(page, "1");
    await page.getByRole("button", { name: "Show the models" }).waitFor();
    keys += await press(page, "Enter");
    await voteIsSaved(page);
    expect(keys).toBe(8);
  });

  const PAGES: Readonly<Record<string, () => Promise<string>>> = {
    arena: async () => "/",
    dashboard: async () => "/#/dashboard",
    requests: async () => "/#/requests?hours=custom",
    decision: async () => {
      const { data } = await gateway.client.decisions();
      return `/#/decisions/${data[0]!.id}`;
    },
    setup: async () => "/#/setup",
    providers: async () => "/#/admin/providers",
    models: async () => "/#/admin/models",
    routers: async () => "/#/admin/routers",
    keys: async () => "/#/admin/keys",
    learning: async () => "/#/admin/learning",
    system: async () => "/#/admin/system",
    history: async () => "/#/admin/history",
  };
  /** Text that a page shows when it is complete. */
  const COMPLETE: Readonly<Record<string, string>> = {
    arena: "Next question",
    dashboard: "Map of prompts",
    requests: "Export",
    decision: "Candidates",
    setup: "Use Joust from your programs",
    providers: "Add a provider",
    models: "Served models",
    routers: "Add a router",
    keys: "Add a key",
    learning: "Save the metric",
    system: "Back up now",
    history: "Export joust.yaml",
  };

  it("reaches every control of every page, in the order of the page, with a visible focus", async () => {
    const page = await open(gateway.url);
    await suggestions(page).first().click();
    await canVote(page);
    await page.keyboard.press("2");
    await sendVote(page);
    await voteIsSaved(page);
    for (const [name, path] of Object.entries(PAGES)) {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.goto(`${gateway.url}${await path()}`);
      // A new page gets the focus once.
      await page.waitForFunction(() => document.activeElement !== document.body);
      await page.getByText(COMPLETE[name]!).first().waitFor();
      const { stops, problems } = await walk(page);
      expect([name, problems]).toEqual([name, []]);
      expect([name, stops > 8]).toEqual([name, true]);
    }
  });

  /** Presses Tab from the start of the page to its end. */
  async function walk(page: Page): Promise<Walk> {
    // The first stop of every page.
    await page.getByRole("button", { name: "Skip to the content" }).focus();
    const expected = await page.evaluate(markStops);
    const visited: string[] = [];
    const problems = new Set<string>();
    for (let i = 0; i < 2 * expected.length + 20; i++) {
      const { stop, name, isVisible } = await page.evaluate(currentStop);
      if (name === undefined) break;
      if (!isVisible) problems.add(`the focus of ${name} is not visible`);
      if (stop !== undefined && visited.at(-1) !== stop) visited.push(stop);
      if (stop === expected.at(-1)) break;
      await page.keyboard.press("Tab");
    }
    const missed = expected.filter((stop) => !visited.includes(stop));
    for (const stop of missed) problems.add(`${stop} was not reached`);
    const inOrder = expected.filter((stop) => visited.includes(stop));
    if (visited.join() !== inOrder.join()) problems.add(`the order is ${visited.join()}`);
    return { stops: visited.length, problems: [...problems] };
  }

  describe("forms and dialogs", () => {
    it.each([
      ["models", /^Edit /],
      ["routers", "Change auto"],
      ["providers", "Replace the key"],
    ])("%s: a form gets the focus, and Escape returns it", async (section, name) => {
      const page = await open(`${gateway.url}/#/admin/${section}`);
      const button = page.getByRole("button", { name }).first();
      await button.focus();
      await press(page, "Enter");
      await page.locator("input:focus").waitFor();
      await press(page, "Escape");
      await button.and(page.locator(":focus")).waitFor();
    });

    it("a dialog keeps the focus inside until Escape returns it", async () => {
      const page = await open(gateway.url);
      await suggestions(page).first().click();
      await canVote(page);
      await page.keyboard.press("2");
      await sendVote(page);
      await voteIsSaved(page);
      const history = page.getByRole("button", { name: "History" });
      await history.focus();
      await press(page, "Enter");
      const dialog = page.getByRole("dialog", { name: "History" });
      await dialog.waitFor();
      for (let i = 0; i < 12; i++) {
        await press(page, "Tab");
        const isInside = await page.evaluate(
          () =>
            document.activeElement === document.body || !!document.activeElement?.closest("dialog"),
        );
        expect(isInside).toBe(true);
      }
      await press(page, "Escape");
      await history.and(page.locator(":focus")).waitFor();
    });

    it("menu, explanation and chart open with the keyboard, and Escape closes them", async () => {
      const own = await context({ viewport: { width: 360, height: 740 } });
      const page = await own.newPage();
      await page.goto(`${gateway.url}/#/dashboard`);
      const menu = page.locator("header summary");
      await menu.focus();
      await press(page, "Enter", "Tab");
      expect(await focused(page)).toBe("Arena");
      await press(page, "Escape");
      await menu.and(page.locator(":focus")).waitFor();
      const hint = page.getByRole("button", { name: "Explain: Is it saving?" });
      await hint.focus();
      await press(page, "Enter");
      await page.getByText(/^US dollars spent in the time window/).waitFor();
      await press(page, "Escape");
      await page.getByText(/^US dollars spent in the time window/).waitFor({ state: "hidden" });
      const map = page.getByRole("group", { name: /Enter opens one/ });
      await map.locator("canvas").waitFor();
      await map.focus();
      await press(page, "ArrowRight");
      await map.getByRole("status").filter({ hasText: /\S/ }).waitFor();
      await press(page, "Escape", "ArrowRight", "Enter");
      await page.getByRole("heading", { name: "Candidates" }).waitFor();
    });
  });
});

/** Runs in the page. Numbers the controls that the Tab key should reach, in the order of the page. */
function markStops(): string[] {
  const controls = document.querySelectorAll<HTMLElement>(
    "a[href], button, input, select, textarea, summary, [tabindex]",
  );
  const isStop = (control: HTMLElement) => {
    if (control.tabIndex < 0 || control.matches(":disabled") || !control.checkVisibility()) {
      return false;
    }
    // The Tab key stops only at the checked radio button of a group.
    return !control.matches("input[type=radio]:not(:checked)");
  };
  return [...controls].filter(isStop).map((control, i) => {
    const text = control.getAttribute("aria-label") ?? control.textContent?.trim() ?? "";
    control.dataset.stop = `${i} ${control.tagName.toLowerCase()} ${text.slice(0, 30)}`;
    return control.dataset.stop;
  });
}

/** Runs in the page. The control that has the focus, and whether one can see that. */
function currentStop(): {
  readonly stop?: string | undefined;
  readonly name?: string;
  readonly isVisible: boolean;
} {
  const now = document.activeElement as HTMLElement | null;
  if (!now || now === document.body) return { isVisible: false };
  const { top, bottom, left, right } = now.getBoundingClientRect();
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  // The focus of a radio button or of the field for a question is drawn around its parent.
  const hasOutline = [now, now.parentElement, now.closest("form")].some((element) => {
    if (!element) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
  });
  const name = now.dataset.stop ?? now.tagName.toLowerCase();
  return { stop: now.dataset.stop, name, isVisible: isInView && hasOutline };
}
