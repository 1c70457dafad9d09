import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");

it("every relative link and image of README and docs leads to a file, and every anchor to a heading", () => {
  const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })];
  expect(pages.length).toBeGreaterThan(3);
  const links = pages.flatMap((page) => linksOf(read(page)).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(5);
  const dead = links.filter(({ page, link }) => !leadsSomewhere(page, link));
  expect(dead.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
});

describe("linksOf", () => {
  it("finds links, images, titles, references and HTML, and ignores links in code and to the web", () => {
    const text = [
      "[a](a.md) and ![b](b.svg 'a title'), [c](<c d.md>), [![e](e.svg)](f.md)",
      "[g]: g.md",
      '<img src="h.svg"> <a href="i.md">i</a>',
      "`[no](no.md)` [web](https://example.org) [mail](mailto:a@b.c) [j](#heading)",
      "```md",
      "[no](no.md)",
      "```",
    ].join("\n");
    expect(linksOf(text).sort()).toEqual([
      "#heading",
      ...["a.md", "b.svg", "c d.md", "e.svg", "f.md", "g.md", "h.svg", "i.md"],
    ]);
  });
});

describe("anchorsOf", () => {
  it("are the headings as GitHub spells them", () => {
    const text = "# What `it` is, in *short*\n## Same\n## Same\n```\n# no\n```\n";
    expect(anchorsOf(text)).toEqual(["what-it-is-in-short", "same", "same-1"]);
  });
});

function read(page: string): string {
  return readFileSync(resolve(ROOT, page), "utf8");
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = decodeURIComponent(link).split("#");
  const file = path === "" ? resolve(ROOT, page) : resolve(ROOT, dirname(page), path);
  if (relative(ROOT, file).startsWith("..") || !existsSync(file)) return false;
  if (anchor === undefined || !file.endsWith(".md")) return true;
  return anchorsOf(readFileSync(file, "utf8")).includes(anchor);
}

/** Targets within the project: of inline links and images, reference definitions, href and src. */
function linksOf(markdown: string): string[] {
  const text = withoutBlocks(markdown).replaceAll(/(`+)(?!`).*?\1/g, "");
  const patterns = [
    /\]\(<([^>\n]*)>[^)\n]*\)/g,
    /\]\(([^)\s<]+)[^)\n]*\)/g,
    /^ {0,3}\[[^\]\n]+\]:\s*(\S+)/gm,
    /\b(?:href|src)="([^"]*)"/g,
  ];
  const found = patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => match[1]!),
  );
  return found.filter((link) => !/^([a-z][a-z+.-]*:|\/\/)/i.test(link));
}

function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map((match) => {
    const words = match[1]!.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "");
    const slug = words.replaceAll(" ", "-");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

/** Removes fenced code, in which nothing is a link or a heading. */
function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1[^\n]*$/gm, "");
}
