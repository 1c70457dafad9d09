import { existsSync } from "node:fs";
import packed from "@sparticuz/chromium";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, describe, expect } from "vitest";

/** Browsers of the machine, used if the browser of the npm package does not start. */
const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

async function launch(): Promise<Browser> {
  const problems: string[] = [];
  for (const find of [() => packed.executablePath(), ...INSTALLED.map((path) => () => path)]) {
    try {
      const executablePath = await find();
      if (!existsSync(executablePath)) continue;
      return await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    } catch (error) {
      problems.push(String(error).split("\n")[0]!);
    }
  }
  throw new Error(problems.join("; "));
}

/** The browser for the tests of a file. If none starts, the tests are skipped and their title says why. */
const found = await launch().then(
  (browser) => ({ browser, reason: "" }),
  (error: Error) => ({
    browser: undefined,
    reason: ` (Chromium does not start: ${error.message})`,
  }),
);

export interface Tabs {
  /** Opens a tab of the same person: all tabs share the browser's storage. */
  open(url: string): Promise<Page>;
  /** Creates a browser profile of its own, for another person or another window size. */
  context(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
}

export function describeInChromium(title: string, tests: (tabs: Tabs) => void): void {
  describe.skipIf(!found.browser)(`${title}${found.reason}`, () => {
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    let own: BrowserContext | undefined;
    const context: Tabs["context"] = async (options = {}) => {
      const made = await found.browser!.newContext({ reducedMotion: "reduce", ...options });
      contexts.push(made);
      // Shorter than a test's own limit, so that a failure names what was waited for.
      made.setDefaultTimeout(190_000);
      made.on("weberror", (error) => problems.push(String(error.error())));
      // Violations of the Content-Security-Policy are only reported on the console.
      made.on("console", (message) => {
        if (/Content.Security.Policy/i.test(message.text())) problems.push(message.text());
      });
      return made;
    };
    afterEach(async () => {
      for (const one of contexts.splice(0)) await one.close();
      own = undefined;
      expect(problems.splice(0), "errors on the page").toEqual([]);
    });
    afterAll(() => found.browser?.close());
    tests({
      context,
      open: async (url) => {
        own ??= await context();
        const page = await own.newPage();
        await page.goto(url);
        return page;
      },
    });
  });
}
