import axe from "axe-core";
import type { Page } from "playwright-core";

/** Serious and critical accessibility violations of a page, each with the elements at fault. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // Evaluated directly, because the Content-Security-Policy forbids a script element.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
