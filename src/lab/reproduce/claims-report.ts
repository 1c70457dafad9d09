/** The claims as the report presents them: a summary, caveats and a table. */

import type { Interval } from "../../core/statistics.ts";
import { decimalsOf, fixed, type Table, tableOf } from "../report/table.ts";
import { plural } from "../report/words.ts";
import { PAPER_ENCODERS } from "./encoders.ts";
import { byId, type JudgedClaim, type Reproduced } from "./experiment.ts";
import { leastRuns, type Runs } from "./planner.ts";
import type { ReproduceRecord } from "./record.ts";
import {
  byMetadata,
  type ClaimVerdict,
  countSides,
  exceptions,
  type Finding,
  type JudgedCell,
  type JudgedPart,
  untestable,
} from "./verdict.ts";

/** With fewer runs intervals are so wide that most is left open. */
const ENOUGH_RUNS = 5;

/** `Of the paper's 30 claims 5 hold here (2, 4, ..), 1 is refuted (28), ..` */
export function summaryOf(judged: readonly JudgedClaim[], runs: Runs): string {
  const own = byId(judged)
    .filter(({ claim }) => claim.ours)
    .map(({ claim, verdict }) => ` The result for claim ${claim.id}, our own: ${verdict}.`);
  const { length } = judged.filter(({ claim }) => !claim.ours);
  return `Of the paper's ${length} claims ${verdictCounts(judged)}.${own.join("")}${cautionOf(judged, runs)}`;
}

/** A warning if intervals are missing or wide. */
function cautionOf(judged: readonly JudgedClaim[], runs: Runs): string {
  const least = leastRuns(runs);
  if (least >= ENOUGH_RUNS) return "";
  const few = judged.filter(({ parts }) =>
    parts.some(({ cells }) => cells.some((cell) => cell.runs.length === least)),
  );
  const rests = runs.runsOf ? `A part of it${idsText(sortedIds(few))} rests` : "This rests";
  return least === 1
    ? ` ${rests} on one run, which has no intervals, so comparisons of curves are left open.`
    : ` ${rests} on ${least} runs, whose intervals are wide; more runs may decide some of the open claims.`;
}

/** The number of the paper's claims with each verdict, and which they are. */
export function verdictCounts(judged: readonly JudgedClaim[], named = true): string {
  const paper = judged.filter(({ claim }) => !claim.ours);
  const counts = WORDS.flatMap(([verdict, is, are]) => {
    const ids = sortedIds(paper.filter((one) => one.verdict === verdict));
    if (ids.length === 0) return verdict === "not testable here" ? [] : [`none ${is}`];
    const most = ids.length > paper.length / 2 && verdict === "not testable here";
    const list = !named ? "" : most ? " (the others)" : ` (${ids.join(", ")})`;
    return [`${ids.length} ${ids.length === 1 ? is : are}${list}`];
  });
  return counts.join("; ");
}

const WORDS: readonly (readonly [ClaimVerdict, string, string])[] = [
  ["holds", "holds here", "hold here"],
  ["refuted", "is refuted", "are refuted"],
  ["open", "is open", "are open"],
  ["not testable here", "cannot be tested here", "cannot be tested here"],
];

function sortedIds(judged: readonly JudgedClaim[]): number[] {
  return byId(judged).map(({ claim }) => claim.id);
}

/** Sentences to read before any number. They name the stand-ins, and the encoders that were not run. */
export function caveatsOf(
  { parts, judged }: Pick<Reproduced, "parts" | "judged">,
  { absent, encoders }: Pick<ReproduceRecord, "absent" | "encoders">,
): string[] {
  const claimsWith = (missing: string) =>
    sortedIds(judged.filter(({ standIn }) => standIn?.for.includes(missing)));
  const standIns = [...Map.groupBy(parts, ({ standIn }) => standIn)].flatMap(([standIn, own]) => {
    const names = own.map(({ experiment }) => experiment.title.split(":")[0]!);
    const ids = own.flatMap(({ experiment }) => claimsWith(experiment.title));
    return standIn === undefined ? [] : [`for ${names.join(", ")}${idsText(ids)}: ${standIn}`];
  });
  const run = encoders.map(({ name }) => name).filter((name) => PAPER_ENCODERS.includes(name));
  const missing = [...Map.groupBy(absent, ({ reason }) => reason)].map(
    ([reason, own]) => `${own.map(({ name }) => name).join(", ")} (${reason})`,
  );
  const prompted = claimsWith("OpenAItext");
  const best = claimsWith("e5b");
  const names = run.length > 0 ? `only ${run.join(", ")}` : "none";
  return [
    standIns.length > 0 && `In place of the paper's data: ${standIns.join("; ")}.`,
    missing.length > 0 &&
      `Of the paper's encoders ${names} ${run.length > 1 ? "were" : "was"} run. Not run: ${missing.join("; ")}.`,
    prompted.length > 0 &&
      `Claims about OpenAItext${idsText(prompted)} cannot be tested without it; the prompts or vectors of each encoder itself stand in for it.`,
    best.length > 0 &&
      `The paper's evidence for some claims${idsText(best)} is e5b alone; the encoders that were run stand in for it.`,
  ].filter((sentence) => sentence !== false);
}

function idsText(ids: readonly number[]): string {
  if (ids.length === 0) return "";
  return ` (${ids.length === 1 ? "claim" : "claims"} ${ids.join(", ")})`;
}

/** A title that names the stand-in for the paper's data. */
export function titleWith(standIn: string | undefined, title: string): string {
  return standIn === undefined ? title : `${title} (a stand-in: ${standIn})`;
}

export function verdictText({ verdict, standIn }: Finding): string {
  return standIn ? `${verdict} (on the stand-in: ${standIn.verdict})` : verdict;
}

/** The numbers of a finding in words. */
export function evidenceOf(finding: Finding): string {
  return sentencesOf(finding).join(". ");
}

/** The numbers of each part of a finding, and remarks. */
export function sentencesOf({ parts, notes }: Finding): string[] {
  return [
    ...parts.map((part) => `${part.name && `${part.name}: `}${partText(part)}`),
    ...notes.map(asSentence),
  ];
}

export function asSentence(note: string): string {
  return note.slice(0, 1).toUpperCase() + note.slice(1);
}

/** `38 of 72 cells for the claim (..), 34 undecided; pooled difference of regret -14.5 [-19.4, -9.6]; ..` */
function partText(part: JudgedPart): string {
  const { cells, unit, rule } = part;
  const reason = untestable(part);
  if (reason !== undefined) return reason;
  if (rule === "number") return `${unit}: ${intervalText(part.pooled, cells)}`;
  const { for: supporting, against, undecided } = countSides(cells);
  const means = cells.map((cell) => cell.mean);
  const show = printer(cells);
  const metadata = byMetadata(part);
  return [
    `${supporting} of ${plural(cells.length, "cell")} for the claim${groupsText(cells)}`,
    against > 0 ? `, ${against} against it` : "",
    undecided > 0 ? `, ${undecided} undecided` : "",
    rule === "exception" ? `, ${exceptions(cells)} for it after Holm's correction` : "",
    `; pooled ${differenceOf(unit)}: ${intervalText(part.pooled, cells)}`,
    cells.length > 1
      ? `, cells from ${show(Math.min(...means))} to ${show(Math.max(...means))}`
      : "",
    `; ${runsText(cells)}`,
    metadata
      ? `; without metadata alone: ${halfText(metadata.without, cells)}; with it alone: ${halfText(metadata.having, cells)}`
      : "",
  ].join("");
}

/** `41 of 57, pooled -17.53 [-21.50, -13.56], holds` */
function halfText(part: JudgedPart, cells: readonly JudgedCell[]): string {
  return `${countText(part)}, pooled ${intervalText(part.pooled, cells)}, ${part.verdict}`;
}

/** `difference of regret`; a unit that is a difference already is left as it is. */
export function differenceOf(unit: string): string {
  return / minus |^R\(|error/.test(unit) ? unit : `difference of ${unit}`;
}

/** `38 of 72` */
function countText({ cells }: Pick<JudgedPart, "cells">): string {
  return `${countSides(cells).for} of ${cells.length}`;
}

/** `5 runs per cell`, or `5 to 100 runs per cell`. */
function runsText(cells: readonly JudgedCell[]): string {
  const counts = cells.map(({ runs }) => runs.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${least === most ? least : `${least} to ${most}`} runs per cell`;
}

/** The pooled estimate with as many decimals as the cells need. */
export function intervalText({ mean, lo, hi }: Interval, cells: readonly JudgedCell[]): string {
  const show = printer(cells);
  return Number.isFinite(lo) && lo < hi ? `${show(mean)} [${show(lo)}, ${show(hi)}]` : show(mean);
}

function printer(cells: readonly JudgedCell[]): (value: number) => string {
  const decimals = Math.max(1, decimalsOf(cells.map((cell) => cell.mean)));
  return (value) => fixed(value, decimals);
}

/** Counts by vote scale and by metadata, if the cells differ in them. */
function groupsText(cells: readonly JudgedCell[]): string {
  const counts = (["voteScale", "metadata"] as const).flatMap((attribute) => {
    const groups = Map.groupBy(cells, (cell) => cell[attribute]);
    groups.delete(undefined);
    const texts = [...groups].map(([name, own]) => {
      const { against } = countSides(own);
      return `${name}: ${countText({ cells: own })}${against > 0 ? `, ${against} against` : ""}`;
    });
    const word = attribute === "voteScale" ? "scale" : attribute;
    return groups.size < 2 ? [] : [`${word} ${texts.join("; ")}`];
  });
  return counts.length > 0 ? ` (${counts.join("; ")})` : "";
}

/** One row per claim, sorted by number. */
export function claimsTable(judged: readonly JudgedClaim[]): Table {
  const kind = "text";
  return tableOf<JudgedClaim>("The paper's claims and the findings here", byId(judged), [
    { kind, key: "id", title: "", cell: ({ claim }) => String(claim.id) },
    {
      kind,
      key: "claim",
      title: "Claim",
      cell: ({ claim }) => `${claim.statement} (${claim.place})`,
    },
    { kind, key: "verdict", title: "Verdict", cell: verdictText },
    { kind, key: "evidence", title: "Measured here (below 0: for the claim)", cell: evidenceOf },
    {
      kind,
      key: "criterion",
      title: "Criterion",
      cell: ({ claim }) => claim.criterion,
    },
  ]);
}
