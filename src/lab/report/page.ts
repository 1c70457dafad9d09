import { chunksOf, DARK_CSS, inline, PAGE_CSS, type Picture } from "./svg.ts";
import { htmlText, type Table, toHtml } from "./table.ts";

/** A part of a page that the list of contents names. */
export interface Section {
  /** Id of the part, by which a link opens it. */
  readonly id: string;
  readonly title: string;
  /** Name in the list of contents, if the title is long. */
  readonly short?: string;
  readonly html: string;
}

/** A page that needs no other file and works on screens of all sizes, light and dark, and on paper. */
export interface ReportPage {
  readonly title: string;
  /** HTML before the list of contents: the result in a few sentences. */
  readonly opening: string;
  readonly sections: readonly Section[];
  /** Style that is added to the common one. */
  readonly css?: string;
}

export function htmlPage({ title, opening, sections, css = "" }: ReportPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(title)}</title>
<style>${CSS}${css}${PAGE_CSS}${DARK_CSS}</style>
</head>
<body>
<header class="bar"><span class="logo" aria-hidden="true"></span><b>Joust</b></header>
<div class="page">
<main>
<h1>${htmlText(title)}</h1>
${opening}
${contents(sections)}
${sections.map(sectionHtml).join("\n")}
</main>
</div>
</body>
</html>
`;
}

function contents(sections: readonly Section[]): string {
  const items = sections.map(
    ({ id, title, short = title }) => `<li><a href="#${id}">${htmlText(short)}</a></li>`,
  );
  return `<nav aria-label="Contents"><h2>Contents</h2><ol>${items.join("")}</ol></nav>`;
}

function sectionHtml({ id, title, html }: Section): string {
  return `<section class="card" aria-labelledby="${id}"><h2 id="${id}">${anchor(id, title)}</h2>\n${html}</section>`;
}

/** A heading that links to itself, so that its address can be copied. */
export function anchor(id: string, title: string): string {
  return `<a class="anchor" href="#${id}">${htmlText(title)}</a>`;
}

export function definitions(rows: readonly (readonly [key: string, value: string])[]): string {
  const lines = rows.map(([key, value]) => `<dt>${htmlText(key)}</dt><dd>${htmlText(value)}</dd>`);
  return `<dl>\n${lines.join("\n")}\n</dl>`;
}

/** Pictures in rows of `columns`. A row wraps if the window is too narrow. */
export function figure(
  pictures: readonly Picture[],
  caption: string,
  columns = pictures.length,
): string {
  const rows = chunksOf(pictures, columns).map((row) => {
    // A wide picture scrolls on a phone, because its texts would be too small there.
    const isWide = row.some(({ width }) => width > WIDE);
    const scrolls = ` large" tabindex="0" role="region" aria-label="${htmlText(row[0]!.title)}`;
    return `<div class="pics${isWide ? scrolls : ""}">${row.map(inline).join("\n")}</div>`;
  });
  return `<figure>\n${rows.join("\n")}\n<figcaption>${htmlText(caption)}</figcaption>\n</figure>`;
}

/** Width in pixels from which a picture is too wide for a phone. */
const WIDE = 520;

/** A table that can be scrolled to the side by pointer, finger and keyboard. */
export function scrollingTable(table: Table): string {
  return `<div class="wide" tabindex="0" role="region" aria-label="${htmlText(table.title)}">${toHtml(table)}</div>`;
}

/** The colors are those of the page, web/src/app.css. */
const CSS = `
:root { color-scheme: light dark; --page: #f7f7f5; --paper: #fff; --rule: #e2e1dd; --ink: #1d1e20; --faint: #5b5e64;
  --accent: #4451c9; --on-accent: #fff; --best: #eceefb; --shadow: rgb(0 0 0 / 0.25); }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #131416; --paper: #1b1c1f; --rule: #33363b; --ink: #ececea; --faint: #a6a9af;
    --accent: #98a4ff; --on-accent: #14161f; --best: #262a45; --shadow: rgb(255 255 255 / 0.3); }
}
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif; }
.bar { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 0.5rem; height: 3.5rem; padding: 0 1.5rem;
  background: var(--page); border-bottom: 1px solid var(--rule); }
/* Two crossed lances. */
.logo { width: 1.6rem; height: 1.6rem; border-radius: 0.4rem; background:
  linear-gradient(45deg, transparent 46%, var(--on-accent) 46% 54%, transparent 54%) center / 62% 62% no-repeat,
  linear-gradient(-45deg, transparent 46%, var(--on-accent) 46% 54%, transparent 54%) center / 62% 62% no-repeat, var(--accent);
  print-color-adjust: exact; }
.page { max-width: 90rem; margin: 0 auto; padding: 1.5rem 1.5rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 0.75rem; }
h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
a { color: inherit; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.anchor { text-decoration: none; } .anchor:hover { text-decoration: underline; }
.anchor::after { content: " #"; color: var(--faint); opacity: 0; } .anchor:hover::after, .anchor:focus-visible::after { opacity: 1; }
.card, nav, .opening { background: var(--paper); border: 1px solid var(--rule); border-radius: 1rem; padding: 1.25rem; margin: 1rem 0; }
.summary { font-size: 1.1rem; max-width: 46rem; margin: 0 0 1rem; }
nav { font-size: 0.9rem; } nav ol { margin: 0; padding-left: 1.5rem; columns: 20rem; column-gap: 2.5rem; } nav a { color: var(--accent); }
p { max-width: 46rem; }
figure { margin: 1rem 0; }
.pics { display: flex; flex-wrap: wrap; gap: 0.75rem 1rem; margin-bottom: 0.75rem; }
.pic { display: block; max-width: 100%; height: auto; font-family: inherit; }
figcaption { color: var(--faint); font-size: 0.875rem; margin-top: 0.5rem; max-width: 46rem; }
/* Shadows at the edges that can be scrolled: the fixed ones are covered by those that scroll along. */
.wide { overflow-x: auto; background:
  linear-gradient(to right, var(--paper) 2rem, transparent) left / 4rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 2rem, transparent) right / 4rem 100% no-repeat local,
  linear-gradient(to right, var(--shadow), transparent) left / 0.8rem calc(100% - 2px) no-repeat scroll,
  linear-gradient(to left, var(--shadow), transparent) right / 0.8rem calc(100% - 2px) no-repeat scroll; }
table { border-collapse: collapse; font-size: 0.78rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.5rem; }
th, td { padding: 0.3rem 0.35rem; text-align: left; font-weight: normal; }
thead th { border-bottom: 1px solid var(--ink); vertical-align: bottom; white-space: normal; font-weight: 600; }
tbody tr { border-bottom: 1px solid var(--rule); }
.n { text-align: right; }
.best { background: var(--best); }
.best th, .best td { font-weight: 600; }
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; font-size: 0.875rem; margin: 0; }
dt, dd { margin: 0; padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
dt { color: var(--faint); }
@media screen and (min-width: 40rem) { .wide { max-height: 85vh; } .wide thead { position: sticky; top: 0; background: var(--paper); } }
@media (max-width: 40rem) {
  .large { overflow-x: auto; } .large .pic { flex: none; max-width: none; width: 40rem; }
  .bar { padding: 0 1rem; } .page { padding: 1rem 0.75rem 3rem; } .card, nav, .opening { padding: 1rem 0.875rem; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --paper: #fff; --ink: #000; --faint: #444; --rule: #ccc; --accent: #000; --on-accent: #fff; --best: #fff; }
  @page { margin: 15mm; }
  body { font-size: 10pt; }
  .bar { position: static; height: auto; padding: 0; border: 0; margin-bottom: 0.5rem; }
  .page { max-width: none; padding: 0; }
  .card, nav, .opening { border: 0; border-radius: 0; padding: 0; margin: 0 0 1.5rem; }
  nav { break-inside: avoid; } nav a { text-decoration: none; }
  tr, dt, dd { break-inside: avoid; } figcaption { break-before: avoid; }
  h2 { break-after: avoid; }
  .pic { break-inside: avoid; } .pics > :not(:only-child) { max-width: calc(33.3% - 0.7rem); }
  table { white-space: normal; }
  .wide { overflow: visible; background: none; }
  table { font-size: 7.5pt; }
  th, td { padding: 0.2rem 0.35rem; }
}
`;
