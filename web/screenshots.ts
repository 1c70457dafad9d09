/**
 * Makes the README's screenshots from a running sandbox (`npm run screenshots`): the arena after a
 * vote and the dashboard after several thousand requests and votes, in the light and the dark theme.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as driver, type Page } from "playwright-core";
import { startGateway } from "../bench/gateway-process.ts";

const ROOT = resolve(import.meta.dirname, "..");
const OUT = join(ROOT, "docs/images");
const VOTES = 1200;
/** Requests for a single answer per vote. */
const REQUESTS_PER_VOTE = 5;
const WINDOW = { viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1.2 };
const CONCURRENT_REQUESTS = 32;

const folder = mkdtempSync(join(tmpdir(), "joust-screenshots-"));
writeFileSync(
  join(folder, "joust.yaml"),
  JSON.stringify({
    server: { log: "warn" },
    sandbox: { speed: 100 },
  }),
);
const gateway = await startGateway(folder);
try {
  const { url } = gateway;
  await simulateTraffic(url);
  const executablePath = await chromium.executablePath();
  const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] });
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({ ...WINDOW, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    const shoot = (name: string) =>
      page.screenshot({ path: join(OUT, `${name}-${colorScheme}.png`) });
    await openArena(page, url);
    await shoot("arena");
    await openDashboard(page, url);
    await shoot("dashboard");
    await context.close();
  }
  await browser.close();
} finally {
  await gateway.end("SIGTERM");
  rmSync(folder, { recursive: true });
}

/** Votes for the correct answer to the first Python task that only one of the two models solves. */
async function openArena(page: Page, url: string): Promise<void> {
  await page.goto(url);
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
  await page.getByText(/^Since your vote, the estimate for/).waitFor();
  await page.getByText(/times as much as/).waitFor();
}

async function openDashboard(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/#/dashboard`);
  await page.getByRole("heading", { name: "Quality by category" }).waitFor();
  await page.getByRole("heading", { name: "Estimated and true quality" }).waitFor();
  await page.getByText(/The probability that it fell/).waitFor();
  await page.locator("canvas").first().waitFor();
}

/** Lets simulated voters vote and sends requests for single answers. */
async function simulateTraffic(url: string): Promise<void> {
  const post = (path: string, body: object) =>
    fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  const votesCast = async () => {
    const response = await fetch(`${url}/v1/sandbox/voters`);
    return ((await response.json()) as { cast: number }).cast;
  };
  const questions = readQuestions();
  let [cast, sent] = [0, 0];
  const sendRequests = async () => {
    while (sent < REQUESTS_PER_VOTE * cast) {
      const { query } = questions[sent++ % questions.length]!;
      const messages = [{ role: "user", content: `${query} (${sent})` }];
      await (await post("/v1/chat/completions", { model: "auto", messages })).arrayBuffer();
    }
  };
  await post("/v1/sandbox/voters", { on: true, votes_per_minute: 1800 });
  while (cast < VOTES) {
    await new Promise((done) => setTimeout(done, 200));
    cast = await votesCast();
    await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, sendRequests));
  }
  await post("/v1/sandbox/voters", { on: false });
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
