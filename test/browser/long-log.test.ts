import { expect, it } from "vitest";
import { describeInChromium } from "./chromium.fixture.ts";
import { serve } from "./gateway.fixture.ts";
import { fillLog } from "./log.fixture.ts";

/** Under load a machine may take its time. */
const WAIT = { timeout: 40_000, interval: 50 };

describeInChromium("a long log", ({ open }) => {
  const gateway = serve(
    () => ({}),
    (folder) => fillLog(folder, 10_000),
  );

  it("10,000 decisions scroll as smoothly as an idle page draws", async () => {
    const page = await open(`${gateway.url}/#/dashboard`);
    const list = page.getByRole("region", { name: "Decisions" }).last();
    await list.getByRole("link").first().waitFor();
    await list.scrollIntoViewIfNeeded();
    // The whole log, page by page, as fast as it comes.
    const setSize = () =>
      list.getByRole("listitem").first().getAttribute("aria-setsize").then(Number);
    await expect
      .poll(async () => {
        await list.evaluate((box) => {
          box.scrollTop = box.scrollHeight;
        });
        return setSize();
      }, WAIT)
      .toBe(10_000);
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    // Frames that were drawn in the same time with and without scrolling, in turns, so that
    // whatever else the machine does is in both.
    const ratios = await list.evaluate(async (box) => {
      const frames = (step: number) =>
        new Promise<number>((done) => {
          const end = performance.now() + 400;
          let count = 0;
          const next = () => {
            count++;
            box.scrollTop += step;
            if (performance.now() < end) requestAnimationFrame(next);
            else done(count);
          };
          requestAnimationFrame(next);
        });
      box.scrollTop = 0;
      const found: number[] = [];
      for (let i = 0; i < 7; i++) {
        const idle = await frames(0);
        found.push((await frames(400)) / idle);
      }
      return found;
    });
    const median = ratios.toSorted((a, b) => a - b)[3]!;
    expect(median).toBeGreaterThan(0.6);
  });
});
