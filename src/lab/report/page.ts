import { chunksOf, DARK_CSS, inline, type Picture } from "./svg.ts";
import { htmlText, type Table, toHtml } from "./table.ts";

/** A whole page for screen and paper. `css` is added to the common style. */
export function htmlPage(title: string, body: string, css = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(title)}</title>
<style>${CSS}${css}${DARK_CSS}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
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
  const rows = chunksOf(pictures, columns).map(
    (row) => `<div class="pics">${row.map(inline).join("\n")}</div>`,
  );
  return `<figure>\n${rows.join("\n")}\n<figcaption>${htmlText(caption)}</figcaption>\n</figure>`;
}

/** A table that can be scrolled to the side by pointer, finger and keyboard. */
export function scrollingTable(table: Table): string {
  return `<div class="wide" tabindex="0" role="region" aria-label="${htmlText(table.title)}">${toHtml(table)}</div>`;
}

const CSS = `
:root { color-scheme: light dark; --ink: #222; --faint: #666; --rule: #ddd; --paper: #fff; --best: #f2f6fc; --shadow: rgb(0 0 0 / 0.25); }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --faint: #a0a0a0; --rule: #3a3a3a; --paper: #161618; --best: #1f2937; --shadow: rgb(255 255 255 / 0.3); }
}
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 88rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.75rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
.summary { font-size: 1.1rem; max-width: 46rem; margin: 0 0 1.5rem; }
p { max-width: 46rem; }
figure { margin: 1.5rem 0; }
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
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; font-size: 0.875rem; }
dt, dd { margin: 0; padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
dt { color: var(--faint); }
@media print {
  :root { color-scheme: light; --ink: #000; --faint: #444; --rule: #ccc; --paper: #fff; --best: #fff; }
  @page { margin: 15mm; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  tr, dt, dd { break-inside: avoid; } figcaption { break-before: avoid; }
  h2 { break-after: avoid; }
  .pic { break-inside: avoid; } .pics > :not(:only-child) { max-width: calc(33.3% - 0.7rem); }
  table { white-space: normal; }
  .wide { overflow: visible; background: none; }
  table { font-size: 7.5pt; }
  th, td { padding: 0.2rem 0.35rem; }
}
`;
