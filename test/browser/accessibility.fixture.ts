import axe from "axe-core";
import type { Page } from "playwright-core";

/** A wide screen in the light theme, and a narrow one in the dark. */
export const SCREENS = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { colorScheme: "dark", viewport: { width: 360, height: 740 } },
] as const;

/**
 * Texts of the page that are cut off at the side, or that one must scroll for sideways. Code may be longer than a line, and
 * screen readers get texts without a size.
 */
export async function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isCut = (element: Element) => {
      const { overflowX, clipPath } = getComputedStyle(element);
      if (overflowX === "visible" || clipPath !== "none") return false;
      return element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1;
    };
    const parts = [...document.querySelectorAll("header *, main *, dialog[open] *")];
    const cut = parts.filter((part) => !part.closest("pre, .sr-only, legend") && isCut(part));
    const isWide = document.documentElement.scrollWidth > innerWidth;
    return [...(isWide ? ["the page"] : []), ...cut.map((part) => part.textContent.slice(0, 80))];
  });
}

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
