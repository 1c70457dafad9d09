/** The whole reproduction as one HTML page that needs no other file. */
import { definitions, figure, htmlPage } from "../report/page.ts";
import { htmlText, toHtml } from "../report/table.ts";
import { TURNING_CSS, TURNING_SCRIPT, turningPicture } from "../report/turning-points.ts";
import { caveatsOf, claimsTable, summaryOf, titleWith } from "./claims-report.ts";
import type { Curve } from "./curve.ts";
import { methodTables } from "./curve-methods.ts";
import type { Drawing, ReportItem, Reproduced } from "./experiment.ts";
import type { ReproduceRecord } from "./record.ts";
import { EXPLANATIONS, INSTRUCTIONS } from "./report-texts.ts";

export interface DrawnItem {
  readonly item: ReportItem;
  readonly drawing: Drawing;
}

const TITLE = "LLM Routing with Dueling Feedback: the experiments again";

/** `drawn` holds the figures and tables of each experiment. */
export function reportPage(
  reproduced: Reproduced,
  drawn: ReadonlyMap<string, readonly DrawnItem[]>,
  record: ReproduceRecord,
): string {
  const { parts, judged, planner } = reproduced;
  const body = [
    `<h1>${htmlText(TITLE)}</h1>`,
    `<p class="summary">${htmlText(summaryOf(judged, planner.size.runs))}</p>`,
    ...caveatsOf(reproduced, record).map(paragraph),
    contents(reproduced),
    `<h2 id="claims">Claims</h2>`,
    claimsHtml(reproduced),
    `<h2 id="reading">How to read this</h2>`,
    ...EXPLANATIONS.map((text) => `<p>${text}</p>`),
    ...parts.flatMap((part) => {
      const { name, title } = part.experiment;
      return [
        `<h2 id="${name}">${htmlText(titleWith(part.standIn, title))}</h2>`,
        ...part.notes.map(paragraph),
        // The browser opens the list that contains the target.
        ...(part.items.length > 0
          ? [`<p><a href="#${name}-methods">How each curve was made</a></p>`]
          : []),
        ...(drawn.get(name) ?? []).map(itemHtml),
        methodsHtml(part, reproduced, String(record.settings.command)),
      ];
    }),
    `<h2 id="again">How to run it again</h2>`,
    ...INSTRUCTIONS.map((text) => `<p>${text}</p>`),
    `<h2 id="settings">Settings, versions, checksums</h2>`,
    definitions(settingsOf(record)),
    `<script>${SCRIPT}${TURNING_SCRIPT}</script>`,
  ];
  return htmlPage(TITLE, body.join("\n"), CSS + TURNING_CSS);
}

function paragraph(text: string): string {
  return `<p>${htmlText(text)}</p>`;
}

/** Each row links to the figure or table that shows it best, or to the first experiment that it needs. */
function claimsHtml({ judged, parts }: Reproduced): string {
  const run = parts.map(({ experiment }) => experiment.name);
  const shown = parts.flatMap(({ items }) => items.map(({ id }) => id));
  const html = toHtml(claimsTable(judged)).replace(NUMBERED, (_, id: string) => {
    const { needs, shownBy } = judged.find(({ claim }) => String(claim.id) === id)!.claim;
    const target =
      shown.find((one) => shownBy?.test(one)) ?? needs.find((name) => run.includes(name));
    const text = target === undefined ? id : `<a href="#${target}">${id}</a>`;
    return `<th scope="row" id="claim-${id}">${text}</th>`;
  });
  return `<div class="wide claims">${html}</div>`;
}

const NUMBERED = /<th scope="row">(\d+)<\/th>/g;

/** A list that is closed on the screen and open on paper. */
function methodsHtml(
  { experiment: { name }, standIn }: Reproduced["parts"][number],
  { planner, results }: Reproduced,
  command: string,
): string {
  const roundsOf = (curve: Curve) => results.rounds(curve);
  const tables = methodTables(planner, name, { standIn, roundsOf });
  const [first] = tables.flatMap(({ rows }) => rows);
  if (!first) return "";
  const again = command.replace(/reproduce \w+/, `reproduce ${name}`);
  const curve = `${again} --curve "${first[0]}"`;
  return `<details class="methods"><summary>How each curve was made, and how to run one again</summary>
<p id="${name}-methods">The whole experiment: <code>${htmlText(again)}</code><br>One curve in all its settings, with its numbers as a table: <code>${htmlText(curve)}</code>, or any other name of the first column.
The title of each list describes the queries and their utilities.</p>
${tables.map((table) => `<div class="wide">${toHtml(table)}</div>`).join("\n")}</details>`;
}

function contents({ parts }: Reproduced): string {
  const links = [
    ["claims", "Claims"],
    ["reading", "How to read this"],
    ...parts.map(({ experiment, standIn }) => [
      experiment.name,
      `${experiment.title}${standIn === undefined ? "" : " (a stand-in)"}`,
    ]),
    ["again", "How to run it again"],
    ["settings", "Settings"],
  ];
  const items = links.map(([id, text]) => `<a href="#${id}">${htmlText(text!)}</a>`);
  return `<nav>${items.join(" \u00b7 ")}</nav>`;
}

function itemHtml({ item: { id, title, caption, hint }, drawing }: DrawnItem): string {
  if (drawing.kind === "table") {
    return `<section class="item table" id="${id}"><div class="wide">${toHtml(drawing.table)}</div><p class="caption">${htmlText(caption)}</p></section>`;
  }
  const turning = drawing.points ? turningPicture(id, drawing.points) : "";
  return `<section class="item${turning && " turning"}" id="${id}"><h3>${htmlText(title)}</h3>${turning}${figure(drawing.svg, caption)}${hint === undefined ? "" : `<p class="caption screen">${htmlText(hint)}</p>`}</section>`;
}

function settingsOf(record: ReproduceRecord): [string, string][] {
  const { settings, encoders, absent, data, versions, code } = record;
  const { data: _, ...rest } = settings; // each file has a row of its own
  const rows: [string, string | number][] = [
    ...Object.entries(rest),
    ...encoders.map(({ name, identity, epochs }): [string, string] => [
      `encoder ${name}`,
      `${epochs.length > 0 ? `fine-tuned for ${epochs.join(" and ")} epochs` : "not fine-tuned"}; ${identity}`,
    ]),
    ...absent.map(({ name, reason }): [string, string] => [
      `encoder ${name}`,
      `not run: ${reason}`,
    ]),
    ...data.map(({ name, sha256 }): [string, string] => [`data ${name}`, `sha256 ${sha256}`]),
    ...Object.entries(versions),
    ...Object.entries(code).map(([job, hash]): [string, string] => [`code of ${job}`, hash]),
  ];
  return rows.map(([key, value]) => [key, String(value)]);
}

const CSS = `
nav { margin: 0 0 1.5rem; font-size: 0.9rem; }
a { color: inherit; }
h2 { border-top: 1px solid var(--rule); padding-top: 1.5rem; margin-top: 2.5rem; font-size: 1.3rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
.item { margin: 1.5rem 0 2rem; }
.caption { color: var(--faint); font-size: 0.875rem; max-width: 46rem; margin-top: 0.5rem; }
.methods { margin: 1rem 0; } .methods summary { cursor: pointer; font-weight: 600; } .methods td, .methods th { vertical-align: top; }
.methods table { white-space: normal; font-size: 0.82rem; table-layout: fixed; width: 100%; margin-top: 1rem; overflow-wrap: anywhere; } .methods caption { color: var(--ink); }
.methods th:nth-child(1) { width: 27%; } .methods th:nth-child(2) { width: 14%; } .methods th:nth-child(5) { width: 15%; }
.headlines table { white-space: pre-line; font-size: 0.82rem; margin-bottom: 1.5rem; }
.headlines td, .headlines th { vertical-align: top; } .headlines td:nth-child(3) { font-weight: 600; }
@media screen { .headlines td:nth-child(n + 6) { white-space: pre; } .headlines td:nth-child(5) { min-width: 9rem; } }
#table-weighting :is(td, th) { padding-inline: 0.25rem; }
.claims table { white-space: normal; font-size: 0.82rem; }
.claims td, .claims th { vertical-align: top; }
.claims td:nth-child(2) { min-width: 15rem; } .claims td:nth-child(3) { min-width: 7rem; font-weight: 600; }
.claims td:nth-child(4), .claims td:nth-child(5) { min-width: 15rem; }
/* Shadows at the edges that can be scrolled: the fixed ones are covered by those that scroll along. */
@media screen {
  .table .wide { background:
    linear-gradient(to right, var(--paper) 2rem, transparent) left / 4rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 2rem, transparent) right / 4rem 100% no-repeat local,
    linear-gradient(to right, rgb(0 0 0 / 0.25), transparent) left / 0.8rem calc(100% - 2px) no-repeat scroll,
    linear-gradient(to left, rgb(0 0 0 / 0.25), transparent) right / 0.8rem calc(100% - 2px) no-repeat scroll; }
}
@media print {
  nav, .screen { display: none; }
  p, .summary, .caption, figcaption { max-width: none; }
  h3 { break-after: avoid; }
  .item { break-inside: avoid; } .table:has(tr:nth-child(30)) { break-inside: auto; }
  caption, thead { break-after: avoid; }
  .claims td:nth-child(n) { min-width: 0; } .claims td:nth-child(4) { width: 43%; } .claims td:nth-child(5) { width: 30%; }
  .headlines td:nth-child(6) { width: 37%; } .headlines td:nth-child(7) { width: 17%; }
  .claims table, .headlines table, .table table { font-size: 7pt; } .methods table { font-size: 6.5pt; }
  .table td, .table th { padding: 0.08rem 0.35rem; }
  details.methods::details-content { content-visibility: visible; display: block; }
}
`;

/** Opens all lists before printing, for browsers that would print them closed. */
const SCRIPT = `
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((list) => { list.open = true; }));
`;
