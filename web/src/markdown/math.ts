import katex from "katex";
import "katex/dist/katex.min.css";

/** Replaces the source of each formula in an element by the formula. Loaded with the first formula. */
export function renderMath(root: Element): void {
  for (const element of root.querySelectorAll(".math-inline, .math-display")) {
    const source = element.textContent ?? "";
    try {
      // KaTeX sets styles on elements, which the Content-Security-Policy allows, unlike style attributes in HTML.
      katex.render(source, element as HTMLElement, {
        displayMode: element.classList.contains("math-display"),
        throwOnError: true,
        strict: "ignore",
        trust: false,
        maxSize: 20,
        maxExpand: 200,
      });
      element.setAttribute("data-source", source);
    } catch {
      element.textContent = source;
    }
  }
}
