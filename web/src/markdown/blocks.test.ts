import { describe, expect, it } from "vitest";
import { blocksOf, MARKDOWN_LIMIT } from "./blocks.ts";

const html = (text: string) =>
  blocksOf(text)
    .map((block) => (block.kind === "html" ? block.html : ""))
    .join("");

describe("an answer as blocks", () => {
  it("separates code and reads only the language from its info string", () => {
    const [text, code] = blocksOf('So:\n\n```Python title="x"\nprint(1)\n```\n');
    expect(text).toMatchObject({ kind: "html", html: "<p>So:</p>\n" });
    expect(code).toMatchObject({ kind: "code", code: "print(1)", lang: "python" });
  });

  it("reuses unchanged blocks while the answer grows", () => {
    const before = blocksOf("One.\n\nTwo");
    const after = blocksOf("One.\n\nTwo and a half", before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  it("shows HTML as text", () => {
    const text = html("Hi <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>");
    expect(text).not.toMatch(/<(script|img)/);
    expect(text).toContain("&#60;script&#62;");
  });

  it("resolves link references that come at the end", () => {
    const before = blocksOf("See [there][1] and\n\nhere.");
    const after = blocksOf("See [there][1] and\n\nhere.\n\n[1]: https://example.org", before);
    expect(after).toHaveLength(2);
    expect(after[0]).toMatchObject({
      html: '<p>See <a href="https://example.org">there</a> and</p>\n',
    });
    expect(after[1]).toBe(before[1]);
  });

  it("turns images into links", () => {
    expect(html("![a cat](https://example.org/cat.png)")).toBe(
      '<p><a href="https://example.org/cat.png">a cat</a></p>\n',
    );
  });
});

describe("an answer that is too long for markdown is shown completely, as plain text", () => {
  const whole = (text: string) => {
    const blocks = blocksOf(text);
    expect(blocks.some(({ kind }) => kind === "plain")).toBe(true);
    return blocks.map(({ raw }) => raw).join("");
  };

  it.each([
    ["1 MB", "lorem ipsum **dolor**\n".repeat(50_000)],
    ["one long line", "x".repeat(100_000)],
    ["many brackets", "[".repeat(MARKDOWN_LIMIT)],
    ["many asterisks", "*a ".repeat(60_000)],
  ])("%s", (_, text) => expect(whole(text)).toBe(text));

  it("a table of 10,000 cells and the text after it", () => {
    const table = `| a | b |\n|---|---|\n${"| one | two |\n".repeat(5000)}`;
    const blocks = blocksOf(`${table}\nand so on`);
    expect(blocks.map(({ kind }) => kind)).toEqual(["plain", "html"]);
    expect(blocks[0]!.raw.trim()).toBe(table.trim());
  });

  it("reuses pieces while the answer grows", () => {
    const text = "word ".repeat(50_000);
    const before = blocksOf(text);
    const after = blocksOf(`${text}more`, before);
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    expect(after[0]).toBe(before[0]);
  });
});
