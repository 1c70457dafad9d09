/** The whole reproduction as one HTML page that needs nothing else. */
import { definitions, figure, htmlPage } from "../report/report.ts";
import { htmlText, toHtml } from "../report/table.ts";
import type { Bench } from "./bench.ts";
import { claimsTable, headlineOf } from "./claims-table.ts";
import type { Drawing, Exhibit, Experiment, PointsPicture } from "./experiment.ts";
import { VIEW } from "./figures/points.ts";
import { howTable } from "./how.ts";
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
    contents(reproduced),
    `<h2 id="claims">Claims</h2>`,
    `<div class="wide claims">${toHtml(claimsTable(judged))}</div>`,
    ...parts.flatMap(({ experiment, notes }) => [
      `<h2 id="${experiment.name}">${htmlText(experiment.title)}</h2>`,
      ...notes.map((note) => `<p>${htmlText(note)}</p>`),
      ...(drawn.get(experiment.name) ?? []).map(({ exhibit, drawing }) =>
        exhibitHtml(exhibit, drawing),
      ),
      howHtml(bench, experiment, String(record.settings.command)),
    ]),
    `<h2 id="reading">How to read this, and how to make it again</h2>`,
    ...READING.map((paragraph) => `<p>${paragraph}</p>`),
    `<h2 id="settings">Settings, versions, checksums</h2>`,
    definitions(settingsOf(record)),
    `<script>${SCRIPT}</script>`,
  ];
  return htmlPage(TITLE, body.join("\n"), CSS);
}

/** Closed until someone wants to know. */
function howHtml(bench: Bench, { name, title }: Experiment, command: string): string {
  const table = howTable(bench, name, `${title}: how each curve was made`);
  if (table.rows.length === 0) return "";
  const again = command.replace(/reproduce \w+/, `reproduce ${name}`);
  return `<details class="how" id="${name}-how"><summary>How each of the ${table.rows.length} curves was made, and how to run one again</summary>
<p>All of this experiment: <code>${htmlText(again)}</code><br>One curve in all its worlds, with its numbers as a table: <code>${htmlText(again)} ${htmlText(`--curve "${table.rows[0]![0]}"`)}</code></p>
<div class="wide">${toHtml(table)}</div></details>`;
}

function contents({ parts }: Reproduced): string {
  const links = [
    ["claims", "Claims"],
    ...parts.map(({ experiment }) => [experiment.name, experiment.title]),
    ["reading", "How to read this"],
    ["settings", "Settings"],
  ];
  const items = links.map(([id, text]) => `<a href="#${id}">${htmlText(text!)}</a>`);
  return `<nav>${items.join(" \u00b7 ")}</nav>`;
}

function exhibitHtml({ id, title, caption }: Exhibit, drawing: Drawing): string {
  if (drawing.kind === "table") {
    return `<section class="exhibit" id="${id}"><div class="wide">${toHtml(drawing.table)}</div><p class="caption">${htmlText(caption)}</p></section>`;
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

const READING = [
  `<b>Names.</b> MiniLM_E4_Excel_perf_cost_exp is the encoder MiniLM, fine-tuned for 4 epochs on the offline queries,
model embeddings by the weighting Excel_perf_cost, and the group: exp is fine-tuned, ctrl is the same encoder as it was, ideal knows
more than the others may. MiniLM_5 has model embeddings from a prompt with five example queries. All of these are FGTS.CDB
with Langevin sampling: eta 1, prior sd 5, five steps a round on minibatches of 128 past rounds, mu = 1 / (10 e sqrt(720)).`,
  `<b>Baselines.</b> random; best-fixed, the one best model in hindsight; zero-feedback, the best told model of the
nearest category, which never looks at a vote: what a learner gains from votes is what it gains over this line; joust, this project's own policy with
its defaults.`,
  `<b>Regret</b> is what the best model for each query would have given less what the chosen models gave (in a duel the mean of the two), summed
over rounds. The vote scale s decides how noisy votes are: P(a beats b) = sigmoid(s (utility of a - utility of b)); s = 1 is the paper's letter and nearly a
coin flip, since utilities lie between 0 and 1. Lines are means over runs, bands 95% intervals by Student's t. Run i of every curve has the same offline queries, the
same stream and the same voters, so curves are compared by the paired difference, run by run.`,
  `<b>Claims</b> were written down with their criteria before the run. A cell is one comparison: an encoder, a weighting, a form of the queries, a vote scale, a length;
it decides where the 95% interval of the paired difference leaves out 0. A claim holds where at least two thirds of its cells are for it, is refuted where as many are against it, and is otherwise
not shown. The paper's encoders decide where they are here, not the program's own word vectors (static).`,
  `<b>Again.</b> The command under Settings gives the same numbers, bit for bit; results are cached, so that a second time takes
seconds. A single experiment can be named in place of all, and <code>--curve NAME</code> runs one curve with all that it needs and prints its numbers.
At the end of each experiment a list says of every curve on which queries, vectors, model embeddings and policy it was run. Fine-tuning: every pair of offline queries of one
category is a like pair, as many pairs across categories unlike ones; cosine loss, AdamW, learning rate 2e-5 (static: 3e-3), batches of 16 pairs, a tenth of the steps
to warm up, then linear decay to 0 at the last step. E2 is therefore a training of its own and no checkpoint of E4. Every figure is in figures/ as SVG, every table in tables/ as CSV and LaTeX, and
reproduce.json has each curve with its runs, each claim with its cells, and how each was made.`,
];

function settingsOf({
  settings,
  encoders,
  absent,
  data,
  versions,
  code,
}: Record): [string, string][] {
  return [
    ...Object.entries(settings).map(([key, value]): [string, string] => [key, String(value)]),
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
.how { margin: 1rem 0; } .how summary { cursor: pointer; font-weight: 600; } .how table { white-space: normal; font-size: 0.82rem; } .how td { vertical-align: top; }
.claims table { white-space: normal; font-size: 0.82rem; }
.claims td, .claims th { vertical-align: top; }
.claims td:nth-child(2) { min-width: 15rem; } .claims td:nth-child(3) { min-width: 7rem; font-weight: 600; }
.claims td:nth-child(4), .claims td:nth-child(5) { min-width: 15rem; }
.canvases { display: none; flex-wrap: wrap; gap: 0.5rem; }
.canvases div { flex: 1 1 20rem; max-width: 30rem; }
.canvases canvas { width: 100%; height: auto; background: #fff; border: 1px solid var(--rule); border-radius: 6px; cursor: grab; touch-action: none; }
@media screen { .scripted .canvases { display: flex; } .scripted .turning figure svg { display: none; } }
@media print { nav { display: none; } h3, .caption { break-after: avoid; } .exhibit { break-inside: avoid-page; } .claims table { font-size: 7pt; } tr { break-inside: avoid; } }
`;

/** Draws points on a canvas and turns them with the pointer or the arrow keys. */
const SCRIPT = `
document.documentElement.classList.add("scripted");
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
