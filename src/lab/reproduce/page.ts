/** The whole reproduction as one HTML page that needs nothing else. */
import { definitions, figure, htmlPage } from "../report/page.ts";
import { htmlText, type Table, toHtml } from "../report/table.ts";
import { TURNING_CSS, TURNING_SCRIPT, turningPicture } from "../report/turning.ts";
import { caveatsOf, titleOf } from "./caveats.ts";
import { claimsTable, headlineOf } from "./claims-table.ts";
import type { Curve, Drawing, Exhibit } from "./experiment.ts";
import { headlinesTable } from "./headlines.ts";
import { howTables } from "./how.ts";
import { AGAIN, READING } from "./reading.ts";
import type { Record } from "./record.ts";
import type { Reproduced } from "./reproduce.ts";

export interface DrawnExhibit {
  readonly exhibit: Exhibit;
  readonly drawing: Drawing;
}

const TITLE = "LLM Routing with Dueling Feedback: the experiments again";

export function pageOf(
  reproduced: Reproduced,
  drawn: ReadonlyMap<string, readonly DrawnExhibit[]>,
  record: Record,
): string {
  const { parts, judged, bench, results } = reproduced;
  const headlines = headlinesTable(judged, results);
  const body = [
    `<h1>${htmlText(TITLE)}</h1>`,
    `<p class="summary">${htmlText(headlineOf(judged, bench.size.runs))}</p>`,
    ...(headlines ? [headlinesHtml(headlines)] : []),
    ...caveatsOf(reproduced, record).map((caveat) => `<p>${htmlText(caveat)}</p>`),
    contents(reproduced),
    `<h2 id="claims">Claims</h2>`,
    claimsHtml(reproduced),
    `<h2 id="reading">How to read this</h2>`,
    ...READING.map((paragraph) => `<p>${paragraph}</p>`),
    ...parts.flatMap((part) => [
      `<h2 id="${part.experiment.name}">${htmlText(titleOf(part.experiment.title, part.standIn))}</h2>`,
      ...part.notes.map((note) => `<p>${htmlText(note)}</p>`),
      // The browser opens the list that holds the place.
      ...(part.exhibits.length > 0
        ? [`<p><a href="#${part.experiment.name}-how">How each curve was made</a></p>`]
        : []),
      ...(drawn.get(part.experiment.name) ?? []).map(({ exhibit, drawing }) =>
        exhibitHtml(exhibit, drawing),
      ),
      howHtml(part, reproduced, String(record.settings.command)),
    ]),
    `<h2 id="again">How to make it again</h2>`,
    ...AGAIN.map((paragraph) => `<p>${paragraph}</p>`),
    `<h2 id="settings">Settings, versions, checksums</h2>`,
    definitions(settingsOf(record)),
    `<script>${SCRIPT}${TURNING_SCRIPT}</script>`,
  ];
  return htmlPage(TITLE, body.join("\n"), CSS + TURNING_CSS);
}

/** Each row leads to the claim's own. */
function headlinesHtml(table: Table): string {
  const html = toHtml(table).replace(NUMBERED, '<th scope="row"><a href="#claim-$1">$1</a></th>');
  return `<div class="wide headlines">${html}</div>`;
}

/** Each row leads to what shows it best, or to the first experiment that it rests on, as far as that was run. */
function claimsHtml({ judged, parts }: Reproduced): string {
  const run = parts.map(({ experiment }) => experiment.name);
  const shown = parts.flatMap(({ exhibits }) => exhibits.map(({ id }) => id));
  const html = toHtml(claimsTable(judged)).replace(NUMBERED, (_, id: string) => {
    const { needs, exhibit } = judged.find(({ claim }) => String(claim.id) === id)!.claim;
    const place =
      shown.find((one) => exhibit?.test(one)) ?? needs.find((name) => run.includes(name));
    const text = place === undefined ? id : `<a href="#${place}">${id}</a>`;
    return `<th scope="row" id="claim-${id}">${text}</th>`;
  });
  return `<div class="wide claims">${html}</div>`;
}

const NUMBERED = /<th scope="row">(\d+)<\/th>/g;

/** Closed until someone wants to know, and open on paper. */
function howHtml(
  { experiment: { name }, standIn }: Reproduced["parts"][number],
  { bench, results }: Reproduced,
  command: string,
): string {
  const roundsOf = (curve: Curve) => results.rounds(curve);
  const tables = howTables(bench, name, { standIn, roundsOf });
  const [first] = tables.flatMap(({ rows }) => rows);
  if (!first) return "";
  const again = command.replace(/reproduce \w+/, `reproduce ${name}`);
  const curve = `${again} --curve "${first[0]}"`;
  return `<details class="how"><summary>How each curve was made, and how to run one again</summary>
<p id="${name}-how">All of this experiment: <code>${htmlText(again)}</code><br>One curve in all its worlds, with its numbers as a table: <code>${htmlText(curve)}</code>, or any other name of the first column.
The title of each list says which queries came and what was true of them.</p>
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
    ["again", "How to make it again"],
    ["settings", "Settings"],
  ];
  const items = links.map(([id, text]) => `<a href="#${id}">${htmlText(text!)}</a>`);
  return `<nav>${items.join(" \u00b7 ")}</nav>`;
}

function exhibitHtml({ id, title, caption, hint }: Exhibit, drawing: Drawing): string {
  if (drawing.kind === "table") {
    return `<section class="exhibit listed" id="${id}"><div class="wide">${toHtml(drawing.table)}</div><p class="caption">${htmlText(caption)}</p></section>`;
  }
  const turning = drawing.points ? turningPicture(id, drawing.points) : "";
  return `<section class="exhibit${turning && " turning"}" id="${id}"><h3>${htmlText(title)}</h3>${turning}${figure(drawing.svg, caption)}${hint === undefined ? "" : `<p class="caption screen">${htmlText(hint)}</p>`}</section>`;
}

function settingsOf({
  settings,
  encoders,
  absent,
  data,
  versions,
  code,
}: Record): [string, string][] {
  return [
    ...Object.entries(settings)
      .filter(([key]) => key !== "data") // each of them is below
      .map(([key, value]): [string, string] => [key, String(value)]),
    ...encoders.map(({ name, identity, epochs }): [string, string] => [
      `encoder ${name}`,
      `${epochs.length > 0 ? `fine-tuned for ${epochs.join(" and ")} epochs` : "not fine-tuned"}; ${identity}`,
    ]),
    ...absent.map(({ name, reason }): [string, string] => [
      `encoder ${name}`,
      `not run: ${reason}`,
    ]),
    ...data.map(({ name, sha256 }): [string, string] => [`data ${name}`, `sha256 ${sha256}`]),
    ...Object.entries(versions).map(([name, version]): [string, string] => [name, version]),
    ...Object.entries(code).map(([kind, sha256]): [string, string] => [`code of ${kind}`, sha256]),
  ];
}

const CSS = `
nav { margin: 0 0 1.5rem; font-size: 0.9rem; }
a { color: inherit; }
h2 { border-top: 1px solid var(--rule); padding-top: 1.5rem; margin-top: 2.5rem; font-size: 1.3rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
.exhibit { margin: 1.5rem 0 2rem; }
.caption { color: var(--faint); font-size: 0.875rem; max-width: 46rem; margin-top: 0.5rem; }
.how { margin: 1rem 0; } .how summary { cursor: pointer; font-weight: 600; } .how td, .how th { vertical-align: top; }
.how table { white-space: normal; font-size: 0.82rem; table-layout: fixed; width: 100%; margin-top: 1rem; overflow-wrap: anywhere; } .how caption { color: var(--ink); }
.how th:nth-child(1) { width: 27%; } .how th:nth-child(2) { width: 14%; } .how th:nth-child(5) { width: 15%; }
.headlines table { white-space: pre-line; font-size: 0.82rem; margin-bottom: 1.5rem; }
.headlines td, .headlines th { vertical-align: top; } .headlines td:nth-child(3) { font-weight: 600; }
@media screen { .headlines td:nth-child(n + 6) { white-space: pre; } .headlines td:nth-child(5) { min-width: 9rem; } }
#table-weighting :is(td, th) { padding-inline: 0.25rem; }
.claims table { white-space: normal; font-size: 0.82rem; }
.claims td, .claims th { vertical-align: top; }
.claims td:nth-child(2) { min-width: 15rem; } .claims td:nth-child(3) { min-width: 7rem; font-weight: 600; }
.claims td:nth-child(4), .claims td:nth-child(5) { min-width: 15rem; }
/* Shadows at the ends of what can be scrolled: those that stay are covered by those that move with it. */
@media screen {
  .listed .wide { background:
    linear-gradient(to right, var(--paper) 2rem, transparent) left / 4rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 2rem, transparent) right / 4rem 100% no-repeat local,
    linear-gradient(to right, rgb(0 0 0 / 0.25), transparent) left / 0.8rem calc(100% - 2px) no-repeat scroll,
    linear-gradient(to left, rgb(0 0 0 / 0.25), transparent) right / 0.8rem calc(100% - 2px) no-repeat scroll; }
}
@media print {
  nav, .screen { display: none; }
  p, .summary, .caption, figcaption { max-width: none; }
  h3 { break-after: avoid; }
  .exhibit { break-inside: avoid; } .listed:has(tr:nth-child(30)) { break-inside: auto; }
  caption, thead { break-after: avoid; }
  .claims td:nth-child(n) { min-width: 0; } .claims td:nth-child(4) { width: 43%; } .claims td:nth-child(5) { width: 30%; }
  .headlines td:nth-child(6) { width: 37%; } .headlines td:nth-child(7) { width: 17%; }
  .claims table, .headlines table, .listed table { font-size: 7pt; } .how table { font-size: 6.5pt; }
  .listed td, .listed th { padding: 0.08rem 0.35rem; }
  details.how::details-content { content-visibility: visible; display: block; }
}
`;

/** For browsers that do not know how to show on paper what is closed. */
const SCRIPT = `
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((list) => { list.open = true; }));
`;
