import type { CDPSession, Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { fillLog } from "./log.fixture.ts";

/** Decisions in the log. Scrolling through a million was measured with this variable. */
const DECISIONS = Number(process.env.JOUST_TEST_DECISIONS ?? 10_000);
/** Rows that the page loads before the second measurement. */
const ROWS = 10_000;
const FRAMES = 60;
const REPETITIONS = 3;
/** Pixels that are scrolled per frame, which is fast. */
const STEP = 80;
/** Time that a frame may take at thirty frames per second. */
const FRAME_MS = 1000 / 30;

describeInChromium("a long log", ({ open }) => {
  const gateway = serve(
    () => ({}),
    (folder) => fillLog(folder, DECISIONS),
  );

  it("10,000 rows scroll as smoothly as 200: each frame has little work and no gap", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    const list = page.getByRole("region", { name: "Decisions" }).last();
    await list.getByRole("link").first().waitFor();
    await list.scrollIntoViewIfNeeded();
    const clock = await threadClock(page);
    await isQuiet(clock);
    const size = () => list.getByRole("listitem").first().getAttribute("aria-setsize").then(Number);
    const few = await scrolled(list, clock);
    expect(await size()).toBe(200);
    // Loads the log page by page.
    await expect
      .poll(async () => {
        await list.evaluate((box) => {
          box.scrollTop = box.scrollHeight;
        });
        return size();
      })
      .toBeGreaterThanOrEqual(ROWS);
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    await list.evaluate((box) => {
      box.scrollTop = box.scrollHeight / 2;
    });
    await isQuiet(clock);
    const many = await scrolled(list, clock);
    expect([few.gaps, many.gaps]).toEqual([0, 0]);
    expect(many.perFrame).toBeLessThan(FRAME_MS);
    // One millisecond of tolerance, because both numbers are small.
    expect(many.perFrame).toBeLessThan(2 * few.perFrame + 1);
  });
});

/**
 * Processor time of the page's thread in milliseconds. Unlike the time on the clock it does not
 * depend on what else the machine does.
 */
async function threadClock(page: Page): Promise<() => Promise<number>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
}

/** Waits until the page has nothing left to draw. */
async function isQuiet(clock: () => Promise<number>): Promise<void> {
  const worked = async () => {
    const before = await clock();
    await new Promise((done) => setTimeout(done, 300));
    return (await clock()) - before;
  };
  await expect.poll(worked).toBeLessThan(FRAME_MS / 2);
}

/**
 * Scrolls frame by frame, several times over the same rows. `gaps`: frames in which a part of the
 * list had no row. `perFrame`: processor time per frame of the fastest repetition, because
 * disturbances such as garbage collection only ever add work.
 */
async function scrolled(list: Locator, clock: () => Promise<number>) {
  const start = await list.evaluate((box) => box.scrollTop);
  let gaps = 0;
  const perFrame: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const before = await clock();
    gaps += await list.evaluate(scroll, { start, FRAMES, STEP });
    perFrame.push(((await clock()) - before) / FRAMES);
  }
  return { gaps, perFrame: Math.min(...perFrame) };
}

/** Runs in the page. */
async function scroll(
  box: Element,
  { start, FRAMES, STEP }: { start: number; FRAMES: number; STEP: number },
): Promise<number> {
  const { left, top, height } = box.getBoundingClientRect();
  const isCovered = (share: number) =>
    document.elementFromPoint(left + 60, top + share * height)?.closest("li") != null;
  let gaps = 0;
  box.scrollTop = start;
  for (let i = 0; i < FRAMES; i++) {
    box.scrollTop += STEP;
    await new Promise((done) => requestAnimationFrame(done));
    // Waits until the work of the frame is done.
    await new Promise((done) => setTimeout(done));
    if (![0.1, 0.5, 0.9].every(isCovered)) gaps++;
  }
  return gaps;
}
