/** A result as one HTML page that needs nothing else: no script, no font, no request. */
import type { Result } from "../simulate/result.ts";
import { paretoSvg } from "./pareto-plot.ts";
import { regretSvg } from "./regret-plot.ts";
import { isPriced, kindOf, ranked, resultTable } from "./result-table.ts";
import { summaryOf } from "./summary.ts";
import { htmlText, toHtml } from "./table.ts";

export function reportHtml(result: Result): string {
  const title = titleOf(result);
  const pareto = paretoSvg(result);
  return htmlPage(
    title,
    `<h1>${htmlText(title)}</h1>
<p class="summary">${htmlText(summaryOf(result))}</p>
${figure(regretSvg(result), "Cumulative regret by round: mean over runs and, where there are several, its 95% band. The number after a name is its regret at the last round.")}
<div class="wide">
${toHtml(resultTable(result))}</div>
${pareto === undefined ? "" : figure(pareto, "What a query costs against what it loses. The dashed line is the Pareto front; bars are 95% intervals.")}
<h2>How to read this</h2>
${reading(result).join("\n")}
<h2>Settings</h2>
${definitions(settingsOf(result.settings))}`,
  );
}

/** A whole page in the house's style, good on a screen and on paper; `css` adds to it. */
export function htmlPage(title: string, body: string, css = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(title)}</title>
<style>${CSS}${css}</style>
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

/** What the words of this very report mean. */
function reading(result: Result): string[] {
  const policies = ranked(result);
  const { lambda } = result.settings;
  const hasCost = policies.some(({ costPerQuery }) => costPerQuery !== null);
  const hasTold = policies.some(({ name }) => kindOf(name) === "zero-feedback");
  const learn = [
    `<b>Regret</b> is what the best model for each query would have given less what the chosen models
gave (in a duel, the mean of the two), summed over rounds: lower is better, and a curve that flattens has
learnt. The <b>band</b>, and each interval in brackets, covers the mean over runs with 95% confidence
(Student's t); run i of every policy sees the same queries, so policies are compared by the <b>paired
difference</b>, run by run, and differ beyond chance where its interval excludes 0.`,
    hasTold &&
      `<b>zero-feedback</b> never looks at a vote: it takes the model with the best told score in the
query's nearest category, so what a policy gains from votes is what it gains over this line.`,
  ];
  const columns = [
    `<b>Score</b> is the mean score of what was answered.`,
    hasCost &&
      `<b>Cost</b> is the mean cost of a query in the data's unit; a duel is charged both answers.`,
    isPriced(policies) &&
      `What counts here is score less lambda (${htmlText(String(lambda))}) times cost; <b>regret of scores</b>
is the regret if scores alone counted.`,
    `<b>Agreement</b> is the share of rounds answered by a best model, half each in a duel. Times are of
one decision and one update, median and 99th percentile.`,
  ];
  return [learn, columns].map((sentences) => `<p>${sentences.filter(Boolean).join(" ")}</p>`);
}

export function figure(svg: string, caption: string): string {
  return `<figure>\n<div class="wide">\n${svg}</div>\n<figcaption>${htmlText(caption)}</figcaption>\n</figure>`;
}

function titleOf({ settings }: Result): string {
  return typeof settings.data === "string" ? `Simulation on ${settings.data}` : "Simulation";
}

/** A row a setting, and then one a policy. */
function settingsOf({ policies, ...settings }: Result["settings"]): [key: string, value: string][] {
  const rows = isRecord(policies) ? Object.entries(policies) : [];
  return [
    ...Object.entries(settings).map(([key, value]): [string, string] => [key, inWords(value)]),
    ...rows.map(([name, value]): [string, string] => [`policy ${name}`, inWords(value)]),
  ];
}

/** Lists and records without their brackets: `noisy, sd 0.1` for {"kind":"noisy","sd":0.1}. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  if (!isRecord(value)) return String(value);
  return Object.entries(value)
    .map(([key, own]) =>
      isRecord(own) || key === "kind" ? inWords(own) : `${key} ${inWords(own)}`,
    )
    .filter((text) => text !== "")
    .join(", ");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Figures keep their white paper in the dark: their colors are chosen for it. */
const CSS = `
:root { color-scheme: light dark; --ink: #222; --faint: #666; --rule: #ddd; --paper: #fff; --best: #f2f6fc; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --faint: #a0a0a0; --rule: #3a3a3a; --paper: #161618; --best: #1f2937; }
}
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 71rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.75rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
.summary { font-size: 1.1rem; max-width: 46rem; margin: 0 0 1.5rem; }
p { max-width: 46rem; }
figure { margin: 1.5rem 0; }
figure svg { display: block; box-sizing: border-box; min-width: 40rem; max-width: 100%; height: auto; padding: 0.75rem;
  background: #fff; border: 1px solid var(--rule); border-radius: 6px; }
figcaption { color: var(--faint); font-size: 0.875rem; margin-top: 0.5rem; max-width: 46rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.78rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.5rem; }
th, td { padding: 0.3rem 0.35rem; text-align: left; font-weight: normal; }
thead th { border-bottom: 1px solid var(--ink); vertical-align: bottom; white-space: normal; font-weight: 600; }
tbody tr { border-bottom: 1px solid var(--rule); }
.number { text-align: right; }
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
  figure, tr, dt, dd { break-inside: avoid; }
  h2 { break-after: avoid; }
  figure svg { border: 0; padding: 0; min-width: 0; }
  .wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: 0.2rem 0.35rem; }
}
`;
