import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";

const html = (text: string) =>
  blocksOf(text)
    .map((block) => (block.kind === "html" ? block.html : ""))
    .join("");

describe("formulas", () => {
  it.each([
    ["$x^2$", "x^2", "inline"],
    ["\\(x_1 * y_1 * z\\)", "x_1 * y_1 * z", "inline"],
    ["so $$\\frac{a}{b}$$ is it", "\\frac{a}{b}", "display"],
    ["$$\na \\\\ b\n$$", "a \\\\ b", "display"],
    ["\\[\n\\int_0^1 f\n\\]", "\\int_0^1 f", "display"],
  ])("%s", (text, source, kind) => {
    expect(html(text)).toContain(`<span class="math-${kind}">${source}</span>`);
  });

  it.each([
    ["two prices", "It costs $5 or $10."],
    ["an open formula", "so $x + y"],
    ["inline code", "`$x$`"],
    ["a very long formula", `$${"x".repeat(5000)}$`],
  ])("%s stays text", (_, text) => expect(html(text)).not.toContain("math-"));

  it("are not read in a text with thousands of marks, which would block the page", () => {
    expect(html(`$x$ ${"\\[a ".repeat(3000)}`)).not.toContain("math-");
  });

  it("show HTML in a formula as text", () => {
    expect(html("$<img src=x onerror=alert(1)>$")).not.toContain("<img");
  });
});
