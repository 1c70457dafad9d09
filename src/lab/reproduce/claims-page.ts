/** The claims as HTML: verdict, numbers, a picture of the cells, the criterion, and every cell in a table. */
import { scrollingTable } from "../report/page.ts";
import {
  colored,
  element,
  GREY,
  INK,
  inline,
  label,
  linesOf,
  type Picture,
  path,
} from "../report/svg.ts";
import { htmlText, tableOf } from "../report/table.ts";
import { asSentence, differenceOf, intervalText, sentencesOf } from "./claims-report.ts";
import { byId, type JudgedClaim, type Reproduced } from "./experiment.ts";
import type { Finding, JudgedPart } from "./verdict.ts";

export function claimsHtml({ judged, parts }: Pick<Reproduced, "judged" | "parts">): string {
  const run = parts.map(({ experiment }) => experiment.name);
  const shown = parts.flatMap(({ items }) => items.map(({ id }) => id));
  const claims = byId(judged)
    .map((one) => {
      const { needs, shownBy } = one.claim;
      // The figure or table that shows the claim best, or the first experiment that it needs.
      const target =
        shown.find((id) => shownBy?.test(id)) ?? needs.find((name) => run.includes(name));
      return claimHtml(one, target);
    })
    .join("\n");
  return `<div class="claims">${claims}</div>`;
}

function claimHtml({ claim, ...finding }: JudgedClaim, target: string | undefined): string {
  const { id, statement, place, criterion, ours } = claim;
  const { verdict, standIn, parts } = finding;
  const number = target === undefined ? `${id}` : `<a href="#${target}">${id}</a>`;
  const source = ours ? "our claim, not the paper's" : place;
  const pictures = parts.filter(({ cells }) => cells.length > 1).map(cellsPicture);
  return `<article class="claim" id="claim-${id}">
<h3>${number}. ${htmlText(statement)} <small>(${htmlText(source)})</small></h3>
<p><strong class="verdict v-${verdict.replaceAll(" ", "-")}">${verdict}</strong> ${standIn ? `On the stand-in <b>${standIn.verdict}</b>: ` : ""}${evidenceHtml(finding)}
<div class="pics">${pictures.map(inline).join("")}</div>
<p class="caption"><b>Criterion.</b> ${htmlText(criterion)}</p>
${parts.map(cellsHtml).join("")}</article>`;
}

/** The rest of a paragraph and, if a claim has several parts, a list of them. */
function evidenceHtml(finding: Finding): string {
  const texts = sentencesOf(finding).map((text) => `${htmlText(text)}.`);
  if (finding.parts.length < 2) return `${texts.join(" ")}</p>`;
  return `</p><ul>${texts.map((text) => `<li>${text}</li>`).join("")}</ul>`;
}

/** Every cell with its runs, in a list that the reader can open. */
function cellsHtml(part: JudgedPart): string {
  const { name, unit, cells } = part;
  if (cells.length === 0) return "";
  const title = `${name && `${name}: `}${cells.length} ${cells.length === 1 ? "cell" : "cells"}`;
  const table = tableOf(title, cells, [
    { key: "cell", title: "Cell", kind: "text", cell: ({ label }) => label },
    {
      key: "difference",
      title: asSentence(differenceOf(unit)),
      kind: "interval",
      cell: (cell) => cell,
    },
    { key: "side", title: "For or against", kind: "text", cell: ({ side }) => side },
    { key: "runs", title: "Runs", kind: "whole", cell: ({ runs }) => runs.length },
  ]);
  return `<details><summary>${htmlText(title)}</summary>${scrollingTable(table)}</details>`;
}

const SIZE = { left: 12, width: 420, top: 26, bottom: 30 };
const TITLE = { size: 10, line: 13 };
const SIDES = { for: 1, against: 0, undecided: GREY } as const;

/** The interval of each cell as a line, sorted by its mean, and the pooled estimate below. */
export function cellsPicture(part: JudgedPart): Picture {
  const { cells, pooled, name, unit, rule } = part;
  const values = [
    0,
    ...cells.flatMap(({ mean, lo, hi }) => [mean, clamp(mean, lo), clamp(mean, hi)]),
  ];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (value: number) =>
    SIZE.left + ((clampTo(value, low, high) - low) / (high - low || 1)) * SIZE.width;
  const isFor = rule === "equivalence" ? "across" : "left of";
  const title = `${name && `${name}: `}${differenceOf(unit)}; ${isFor} the line: for the claim`;
  const lines = linesOf(title, TITLE.size, SIZE.width);
  const top = SIZE.top + (lines.length - 1) * TITLE.line;
  const step = Math.min(7, 130 / cells.length);
  const placed = cells
    .toSorted((a, b) => a.mean - b.mean)
    .map((cell, i) => ({ ...cell, y: top + (i + 0.5) * step }));
  // All cells of one side share an SVG element, which halves the size of the picture.
  const intervals = [...Map.groupBy(placed, ({ side }) => side)].map(([side, own]) => {
    const known = own.filter(({ lo }) => Number.isFinite(lo));
    const bars = known
      .map(({ lo, hi, y }) =>
        path([
          [x(lo), y],
          [x(hi), y],
        ]),
      )
      .join("");
    const dots = own.map(({ mean, y }) => `${path([[x(mean), y]])}h0`).join("");
    const dot = { "stroke-width": Math.min(4.4, step), "stroke-linecap": "round" };
    const stroke = "currentColor";
    return colored(
      SIDES[side],
      element("path", { d: bars, stroke, "stroke-opacity": ".45" }),
      element("path", { d: dots, stroke, ...dot }),
    );
  });
  const bottom = top + cells.length * step + 10;
  const [from, to, middle] = [x(pooled.lo), x(pooled.hi), x(pooled.mean)];
  const diamond = Number.isFinite(pooled.lo)
    ? `${path([
        [from, bottom],
        [middle, bottom - 4],
        [to, bottom],
        [middle, bottom + 4],
      ])}z`
    : "";
  const start = { "text-anchor": "start" };
  const body = [
    ...lines.map((line, i) =>
      label(SIZE.left, 10 + i * TITLE.line, line, {
        ...start,
        "font-size": TITLE.size,
        "fill-opacity": ".75",
      }),
    ),
    element("path", {
      d: path([
        [x(0), top - 6],
        [x(0), bottom + 8],
      ]),
      stroke: "currentColor",
      "stroke-opacity": ".5",
    }),
    ...intervals,
    colored(INK, element("path", { d: diamond })),
    label(
      clampTo(middle, 70, SIZE.width - 50),
      bottom + 16,
      `pooled ${intervalText(pooled, cells)}`,
      {
        "font-weight": 600,
      },
    ),
  ];
  return {
    title,
    width: SIZE.width + 2 * SIZE.left,
    height: bottom + SIZE.bottom,
    body: body.join(""),
  };
}

/** Bounds of very wide intervals are cut at three times the distance of the mean from 0. */
function clamp(mean: number, bound: number): number {
  const reach = 3 * Math.abs(mean);
  return Number.isFinite(bound) ? clampTo(bound, mean - reach, mean + reach) : mean;
}

function clampTo(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export const CLAIMS_CSS = `
.claim { border-top: 1px solid var(--rule); padding: 0.75rem 0; }
.claim ul { margin: 0.25rem 0; padding-left: 1.2rem; max-width: 60rem; }
.claim h3 { margin: 0 0 0.25rem; } .claim p { margin: 0.25rem 0; max-width: 60rem; } .claim small { font-weight: 400; color: var(--faint); }
.verdict { padding: 0.1rem 0.45rem; border-radius: 4px; border: 1px solid currentColor; white-space: nowrap; }
.v-holds { color: var(--holds); } .v-refuted { color: var(--refuted); } .v-open, .v-not-testable-here { color: var(--faint); }
:root { --holds: #0a4598; --refuted: #b04a00; }
@media screen and (prefers-color-scheme: dark) { :root { --holds: #82b2f6; --refuted: #ff7a12; } }
@media print {
  .claims { columns: 2; column-gap: 10mm; font-size: 8pt; } .claim :is(h3, .caption) { font-size: inherit; }
  .claim { break-inside: avoid; } .claim details { display: none; } .claim .pics > .pic { max-width: 75%; }
}
`;
