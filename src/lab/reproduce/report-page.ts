/** The whole reproduction as one HTML page that needs no other file. */
import {
  anchor,
  definitions,
  figure,
  htmlPage,
  type Section,
  scrollingTable,
} from "../report/page.ts";
import { htmlText } from "../report/table.ts";
import { CLAIMS_CSS, claimsHtml } from "./claims-page.ts";
import { caveatsOf, summaryOf, titleWith } from "./claims-report.ts";
import type { Curve } from "./curve.ts";
import { methodTables } from "./curve-methods.ts";
import type { Drawing, ReportItem, Reproduced } from "./experiment.ts";
import { openingOf } from "./opening.ts";
import type { ReproduceRecord } from "./record.ts";
import { EXPLANATIONS, INSTRUCTIONS } from "./report-texts.ts";

export interface DrawnItem {
  readonly item: ReportItem;
  readonly drawing: Drawing;
}

const TITLE = "LLM Routing with Dueling Feedback: the experiments repeated";

/** `drawn` holds the figures and tables of each experiment. */
export function reportPage(
  reproduced: Reproduced,
  drawn: ReadonlyMap<string, readonly DrawnItem[]>,
  record: ReproduceRecord,
): string {
  const { parts, judged, planner } = reproduced;
  const claims = [
    `<p class="summary">${htmlText(summaryOf(judged, planner.size))}</p>`,
    ...caveatsOf(reproduced, record).map(paragraph),
    claimsHtml(reproduced),
  ];
  return htmlPage({
    title: TITLE,
    opening: openingHtml(reproduced),
    sections: [
      { id: "claims", title: "Claims", html: claims.join("\n") },
      {
        id: "reading",
        title: "How to read this",
        html: EXPLANATIONS.map((text) => `<p>${text}</p>`).join("\n"),
      },
      ...parts.map((part) => experimentSection(part, reproduced, drawn, record)),
      {
        id: "again",
        title: "How to run it again",
        html: INSTRUCTIONS.map((text) => `<p>${text}</p>`).join("\n"),
      },
      {
        // "settings" is the name of an experiment.
        id: "versions",
        title: "Settings, versions, checksums",
        short: "Settings",
        html: definitions(settingsOf(record)),
      },
    ],
    css: CSS + CLAIMS_CSS,
  });
}

function experimentSection(
  part: Reproduced["parts"][number],
  reproduced: Reproduced,
  drawn: ReadonlyMap<string, readonly DrawnItem[]>,
  record: ReproduceRecord,
): Section {
  const { name, title } = part.experiment;
  const html = [
    ...part.notes.map(paragraph),
    // The browser opens the list that contains the target.
    ...(part.items.length > 0
      ? [`<p class="to-methods"><a href="#${name}-methods">How each curve was made</a></p>`]
      : []),
    ...(drawn.get(name) ?? []).map(itemHtml),
    methodsHtml(part, reproduced, String(record.settings.command)),
  ];
  return {
    id: name,
    title: titleWith(part.standIn, title),
    short: `${title}${part.standIn === undefined ? "" : " (a stand-in)"}`,
    html: html.join("\n"),
  };
}

/** One figure and three sentences. */
function openingHtml(reproduced: Reproduced): string {
  const opening = openingOf(reproduced);
  if (!opening) return "";
  const sentences = opening.sentences.map((text) => `<li>${htmlText(text)}</li>`).join("");
  return `<section class="opening"><ol class="summary">${sentences}</ol>${figure(opening.pictures, opening.caption)}</section>`;
}

function paragraph(text: string): string {
  return `<p>${htmlText(text)}</p>`;
}

/** A list that is closed on the screen and left out on paper, where it would fill 60 pages. */
function methodsHtml(
  { experiment: { name }, standIn }: Reproduced["parts"][number],
  { planner, results }: Reproduced,
  command: string,
): string {
  const roundsOf = (curve: Curve) => results.rounds(curve);
  const tables = methodTables(planner, name, { standIn, roundsOf });
  const [first] = tables.flatMap(({ rows }) => rows);
  if (!first) return "";
  const again = command.replace(/reproduce( \w+)+/, `reproduce ${name}`);
  const curve = `${again} --curve "${first[0]}"`;
  return `<details class="methods"><summary>How each curve was made, and how to run one again</summary>
<p id="${name}-methods">The whole experiment: <code>${htmlText(again)}</code><br>One curve in all its settings, with its numbers as a table: <code>${htmlText(curve)}</code>, or any other name of the first column.
The title of each list describes the queries and their utilities.</p>
${tables.map(scrollingTable).join("\n")}</details>`;
}

function itemHtml({ item: { id, title, caption }, drawing }: DrawnItem): string {
  const content =
    drawing.kind === "table"
      ? `${scrollingTable(drawing.table)}<p class="caption">${htmlText(caption)}</p>`
      : `<h3>${anchor(id, title)}</h3>${figure(drawing.pictures, caption, drawing.columns)}`;
  return `<section class="item ${drawing.kind}" id="${id}">${content}</section>`;
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
h2 { font-size: 1.3rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
.opening ol { padding-left: 1.4rem; max-width: 60rem; } .opening li { margin-bottom: 0.4rem; }
.item { margin: 1.5rem 0 2rem; }
.caption { color: var(--faint); font-size: 0.875rem; max-width: 60rem; margin-top: 0.5rem; }
details { margin: 0.5rem 0; } summary { cursor: pointer; } .methods summary { font-weight: 600; }
.methods table { white-space: normal; font-size: 0.82rem; min-width: 50rem; margin-top: 1rem; } .methods caption { color: var(--ink); }
.methods td, .methods th { vertical-align: top; overflow-wrap: anywhere; }
.methods p { overflow-wrap: anywhere; }
#table-weighting :is(td, th) { padding-inline: 0.25rem; }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  p, .summary, .caption, figcaption { max-width: none; } .caption, figcaption { font-size: 8pt; }
  h3 { break-after: avoid; }
  caption, thead { break-after: avoid; }
  table { font-size: 6.5pt; } .methods table { min-width: 0; font-size: 6pt; }
  .table td, .table th { padding: 0.08rem 0.25rem; } td.n { white-space: nowrap; } #settings-grid :is(td, th) { white-space: normal; font-size: 5pt; padding: 0.05rem 0.1rem; }
  .methods, .to-methods { display: none; }
}
`;
