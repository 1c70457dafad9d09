/** The whole reproduction as one HTML page that needs nothing else. */
import { definitions, figure, htmlPage } from "../report/report.ts";
import { htmlText, toHtml } from "../report/table.ts";
import type { Bench } from "./bench.ts";
import { claimsTable, headlineOf } from "./claims-table.ts";
import type { Drawing, Exhibit, Experiment, PointsPicture } from "./experiment.ts";
import { VIEW } from "./figures/points.ts";
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
  const { parts, judged, bench } = reproduced;
  const body = [
    `<h1>${htmlText(TITLE)}</h1>`,
    `<p class="summary">${htmlText(headlineOf(judged, bench.size.runs))}</p>`,
    ...caveatsOf(reproduced, record).map((caveat) => `<p>${htmlText(caveat)}</p>`),
    contents(reproduced),
    `<h2 id="claims">Claims</h2>`,
    `<div class="wide claims">${toHtml(claimsTable(judged))}</div>`,
    `<h2 id="reading">How to read this</h2>`,
    ...READING.map((paragraph) => `<p>${paragraph}</p>`),
    ...parts.flatMap((part) => [
      `<h2 id="${part.experiment.name}">${htmlText(titleOf(part))}</h2>`,
      ...part.notes.map((note) => `<p>${htmlText(note)}</p>`),
      // The browser opens the list that holds the place.
      ...(part.exhibits.length > 0
        ? [`<p><a href="#${part.experiment.name}-how">How each curve was made</a></p>`]
        : []),
      ...(drawn.get(part.experiment.name) ?? []).map(({ exhibit, drawing }) =>
        exhibitHtml(exhibit, drawing),
      ),
      howHtml(bench, part.experiment, String(record.settings.command)),
    ]),
    `<h2 id="again">How to make it again</h2>`,
    ...AGAIN.map((paragraph) => `<p>${paragraph}</p>`),
    `<h2 id="settings">Settings, versions, checksums</h2>`,
    definitions(settingsOf(record)),
    `<script>${SCRIPT}</script>`,
  ];
  return htmlPage(TITLE, body.join("\n"), CSS);
}

/** What stands in for what, and what could not be run: to be read before any number. */
export function caveatsOf(
  { parts }: Pick<Reproduced, "parts">,
  { absent }: Pick<Record, "absent">,
): string[] {
  const of = Map.groupBy(parts, ({ standIn }) => standIn);
  const standIns = [...of].flatMap(([standIn, own]) => {
    const names = own.map(({ experiment }) => experiment.title.split(":")[0]);
    return standIn === undefined ? [] : [`for ${names.join(", ")} ${standIn}`];
  });
  const missing = absent.map(({ name, reason }) => `${name} (${reason})`);
  return [
    ...(standIns.length > 0 ? [`In place of the paper's data: ${standIns.join("; ")}.`] : []),
    ...(missing.length > 0
      ? [`Encoders of the paper that were not run: ${missing.join("; ")}.`]
      : []),
  ];
}

function titleOf({ experiment, standIn }: Reproduced["parts"][number]): string {
  return standIn === undefined ? experiment.title : `${experiment.title} (a stand-in: ${standIn})`;
}

/** Closed until someone wants to know, and open on paper. */
function howHtml(bench: Bench, { name }: Experiment, command: string): string {
  const tables = howTables(bench, name);
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

function exhibitHtml({ id, title, caption }: Exhibit, drawing: Drawing): string {
  if (drawing.kind === "table") {
    return `<section class="exhibit listed" id="${id}"><div class="wide">${toHtml(drawing.table)}</div><p class="caption">${htmlText(caption)}</p></section>`;
  }
  const turning = drawing.points ? turningPicture(id, drawing.points) : "";
  return `<section class="exhibit${turning && " turning"}" id="${id}"><h3>${htmlText(title)}</h3>${turning}${figure(drawing.svg, caption)}</section>`;
}

/** A canvas for each panel; the still is shown where there is no script, and on paper. */
function turningPicture(id: string, { panels, colors, categories }: PointsPicture): string {
  const rounded = panels.map(({ title, points, category }) => ({
    title,
    category,
    points: points.map((point) => point.map((value) => Number(value.toFixed(2)))),
  }));
  const data = JSON.stringify({ panels: rounded, colors, categories, view: VIEW });
  const canvases = panels.map(
    ({ title }) =>
      `<div><canvas width="760" height="760" tabindex="0" aria-label="${htmlText(title)}"></canvas></div>`,
  );
  return `<div class="canvases" data-points="${id}">${canvases.join("")}</div><script type="application/json" id="${id}-points">${data.replaceAll("<", "\\u003c")}</script>`;
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
.claims table { white-space: normal; font-size: 0.82rem; }
.claims td, .claims th { vertical-align: top; }
.claims td:nth-child(2) { min-width: 15rem; } .claims td:nth-child(3) { min-width: 7rem; font-weight: 600; }
.claims td:nth-child(4), .claims td:nth-child(5) { min-width: 15rem; }
.canvases { display: none; flex-wrap: wrap; gap: 0.5rem; }
.canvases div { flex: 1 1 20rem; max-width: 30rem; }
.canvases canvas { width: 100%; height: auto; background: #fff; border: 1px solid var(--rule); border-radius: 6px; cursor: grab; touch-action: none; }
@media screen { .scripted .canvases { display: flex; } .scripted .turning figure svg { display: none; } }
@media print {
  nav { display: none; }
  p, .summary, .caption, figcaption { max-width: none; }
  h3 { break-after: avoid; }
  .exhibit { break-inside: avoid; } .listed { break-inside: auto; }
  caption, thead { break-after: avoid; }
  .claims table, .listed table { font-size: 7pt; } .how table { font-size: 6.5pt; }
  .listed td, .listed th { padding: 0.08rem 0.35rem; }
  details.how::details-content { content-visibility: visible; display: block; }
}
`;

/** Draws points on a canvas and turns them with the pointer or the arrow keys. */
const SCRIPT = `
document.documentElement.classList.add("scripted");
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((list) => { list.open = true; }));
for (const box of document.querySelectorAll("[data-points]")) {
  const { panels, colors, categories, view } = JSON.parse(document.getElementById(box.dataset.points + "-points").textContent);
  const state = { ...view };
  const canvases = [...box.querySelectorAll("canvas")];
  const draw = () => canvases.forEach((canvas, i) => {
    const { title, points, category } = panels[i];
    const c = canvas.getContext("2d"), size = canvas.width, half = size / 2;
    const reach = 1.02 * Math.max(...points.map((p) => Math.hypot(...p)));
    const [ct, st, cl, sl] = [Math.cos(state.turn), Math.sin(state.turn), Math.cos(state.tilt), Math.sin(state.tilt)];
    const dots = points.map(([x, y, z], n) => {
      const across = x * ct + z * st, away = z * ct - x * st;
      return { x: half + (across / reach) * half, y: half - ((y * cl - away * sl) / reach) * half, near: 0.5 + (away * cl + y * sl) / (2 * reach), m: category[n] };
    }).sort((a, b) => a.near - b.near);
    c.fillStyle = "#fff"; c.fillRect(0, 0, size, size);
    for (const { x, y, near, m } of dots) {
      c.globalAlpha = 0.35 + 0.6 * Math.min(1, Math.max(0, near));
      c.fillStyle = colors[m]; c.beginPath(); c.arc(x, y, 3 + 4 * near, 0, 7); c.fill();
    }
    c.globalAlpha = 1; c.font = "600 22px system-ui, sans-serif"; c.fillStyle = "#222"; c.fillText(title, 16, 30);
    c.font = "18px system-ui, sans-serif";
    categories.forEach((name, m) => { const y = size - 16 - 24 * (categories.length - 1 - m); c.fillStyle = colors[m]; c.fillRect(16, y - 12, 12, 12); c.fillStyle = "#222"; c.fillText(name, 36, y); });
  });
  for (const canvas of canvases) {
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      state.turn += event.movementX / 150; state.tilt = Math.min(1.5, Math.max(-1.5, state.tilt + event.movementY / 150)); draw();
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!step) return;
      event.preventDefault(); state.turn += step[0]; state.tilt = Math.min(1.5, Math.max(-1.5, state.tilt + step[1])); draw();
    });
  }
  draw();
}
`;
