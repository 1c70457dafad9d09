/**
 * Makes the pictures of README.md and docs/tour.md from a running sandbox (`npm run screenshots`): the arena and the
 * dashboard after a thousand simulated votes. With a folder (`npm run screenshots -- FOLDER`) it writes all pages there,
 * on a wide and a narrow screen and in both themes, for inspection.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver, type Page } from "playwright-core";
import { startGateway } from "../bench/gateway-process.ts";

const ROOT = resolve(import.meta.dirname, "..");
const IMAGES = join(ROOT, "docs/images");
const VOTES = 1000;
const WIDE = { width: 1440, height: 960 };
const NARROW = { width: 390, height: 844 };
/** A busy machine may take long. */
const TIMEOUT_MS = 120_000;
const folder = process.argv[2];

interface Shot {
  readonly name: string;
  readonly open: (page: Page, url: string) => Promise<void>;
  /** The part of the page that the tour shows; the whole window without it. */
  readonly part?: (page: Page) => ReturnType<Page["getByRole"]>;
}

const region = (name: string) => (page: Page) => page.getByRole("region", { name }).first();

/** In the order of the tour. Each starts from the page that the one before has left. */
const SHOTS: readonly Shot[] = [
  { name: "welcome", open: openWelcome },
  { name: "vote", open: holdVote },
  { name: "arena", open: sendVote },
  { name: "options", open: openOptions },
  { name: "dashboard", open: openDashboard },
  { name: "first-votes", open: openDashboard, part: region("Watch 1,000 votes in a minute") },
  { name: "quality", open: openDashboard, part: region("Quality by category") },
  { name: "tradeoff", open: openDashboard, part: region("Cost-quality trade-off") },
  { name: "models", open: openDashboard, part: region("Models") },
];
/** Pictures of the README, in both themes. */
const README: readonly string[] = ["arena", "dashboard"];

const data = mkdtempSync(join(tmpdir(), "joust-screenshots-"));
writeFileSync(
  join(data, "joust.yaml"),
  JSON.stringify({ server: { log: "warn" }, sandbox: { speed: 100 } }),
);
const gateway = await startGateway(data);
try {
  await castVotes(gateway.url);
  const executablePath = await chromium.executablePath();
  const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] });
  if (folder === undefined) await makePictures(browser, gateway.url);
  else await makeAll(browser, gateway.url, resolve(folder));
  await browser.close();
} finally {
  await gateway.end("SIGTERM");
  rmSync(data, { recursive: true });
}

async function makePictures(browser: Browser, url: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      deviceScaleFactor: 1.2,
      colorScheme,
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    for (const { name, open, part } of SHOTS) {
      await open(page, url);
      // The header would cover the top of a part that is larger than the window.
      if (part) {
        await page.getByRole("banner").evaluate((header) => {
          header.style.position = "static";
        });
      }
      const isOfTour = colorScheme === "light" && !README.includes(name);
      if (isOfTour) await (part?.(page) ?? page).screenshot({ path: join(IMAGES, `${name}.png`) });
      if (README.includes(name)) {
        await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) });
      }
    }
    await context.close();
  }
}

async function makeAll(browser: Browser, url: string, out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    for (const viewport of [WIDE, NARROW]) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      context.setDefaultTimeout(TIMEOUT_MS);
      const page = await context.newPage();
      for (const { name, open, part } of SHOTS) {
        if (part) continue;
        await open(page, url);
        const path = join(out, `${name}-${viewport.width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true });
      }
      await context.close();
    }
  }
}

async function openWelcome(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("region", { name: "Suggestions" }).getByRole("button").first().waitFor();
}

/** Votes for the correct answer to the first Python task that only one of the two models solves. */
async function holdVote(page: Page): Promise<void> {
  for (const { query, answer } of readQuestions().filter(({ category }) => category === "mbpp")) {
    await page.getByLabel("Your question").fill(query);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Skip", exact: true }).waitFor();
    const codes = await page.locator("article pre").allTextContents();
    const [a, b] = codes.map((code) => code.trim() === answer);
    if (a !== b) {
      await page.keyboard.press(a ? "1" : "2");
      break;
    }
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByRole("button", { name: "New conversation" }).click();
  }
  await page.getByRole("button", { name: "Correct", exact: true }).click();
}

async function sendVote(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Show the models" }).click();
  await page.getByText(/^Since your vote, the estimate for/).waitFor();
  await page.getByText(/times as much as|cost about the same/).waitFor();
}

async function openOptions(page: Page, url: string): Promise<void> {
  await page.getByRole("button", { name: "New conversation" }).click();
  await openWelcome(page, url);
  await page.getByRole("button", { name: "Options", exact: true }).click();
  await page.getByRole("region", { name: "Options" }).waitFor();
}

async function openDashboard(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/#/dashboard`);
  await page.getByRole("heading", { name: "Quality by category" }).waitFor();
  await page.getByRole("heading", { name: "Estimated and true quality" }).waitFor();
  await page.getByText(/The probability that the loss fell/).waitFor();
  await page
    .getByRole("img", { name: /^Quality by cost/ })
    .locator("canvas")
    .waitFor();
  await page
    .getByRole("img", { name: /^Right answers/ })
    .locator("canvas")
    .waitFor();
}

/** Lets simulated people send requests and vote. */
async function castVotes(url: string): Promise<void> {
  const voters = async (body?: object) => {
    const init = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${url}/v1/sandbox/voters`, init);
    return (await response.json()) as { cast: number };
  };
  await voters({ on: true, votes_per_minute: 1800, stop_after: VOTES });
  while ((await voters()).cast < VOTES) await new Promise((done) => setTimeout(done, 200));
}

interface Question {
  readonly category: string;
  readonly query: string;
  readonly answer: string;
}

function readQuestions(): Question[] {
  const lines = readFileSync(join(ROOT, "data/queries.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Question);
}
