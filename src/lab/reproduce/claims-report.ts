/** The claims as the report presents them: a summary, caveats, headlines and a table. */
import { fixed, type Table } from "../report/table.ts";
import { mean } from "../statistics.ts";
import { PAPER_ENCODERS } from "./encoders.ts";
import type { HeadlineLine, JudgedClaim, Reproduced } from "./experiment.ts";
import type { ReproduceRecord } from "./record.ts";
import type { Results } from "./results.ts";
import { type Finding, shown } from "./verdict.ts";

/** The paper's number of runs. */
const ENOUGH_RUNS = 5;

/** `Of 31 claims 7 hold here (..); 3 are refuted, ..; 19 are not shown either way (..); 2 cannot be tested here (..).` */
export function summaryOf(judged: readonly JudgedClaim[], runs: number): string {
  const ids = (test: (one: Finding) => boolean) => sortedIds(judged.filter(test));
  const list = (own: readonly number[]) => (own.length === 0 ? "" : ` (${own.join(", ")})`);
  const count = (own: readonly number[], one: string, many: string) =>
    `${own.length} ${own.length === 1 ? one : many}`;
  const hold = ids(({ verdict }) => verdict === "holds");
  const refuted = ids((one) => one.refuted === true);
  const open = ids((one) => one.verdict === "does not hold" && !one.refuted);
  const untested = ids(({ verdict }) => verdict === "cannot be tested here");
  const rest = untested.length > judged.length / 2 ? " (the others)" : list(untested);
  const groups = [
    `${count(hold, "holds", "hold")} here${list(hold)}`,
    `${count(refuted, "is refuted, its", "are refuted, their")} opposite being shown${list(refuted)}`,
    `${count(open, "is", "are")} not shown either way${list(open)}`,
    `${untested.length} cannot be tested here${rest}`,
  ];
  const caution =
    runs >= ENOUGH_RUNS
      ? ""
      : runs === 1
        ? " This rests on one run, which has no intervals, so comparisons of curves are left open."
        : ` This rests on ${runs} runs, whose intervals are wide, so more is left open than with five.`;
  return `Of ${judged.length} claims ${groups.join("; ")}.${caution}`;
}

function sortedIds(judged: readonly JudgedClaim[]): number[] {
  return judged.map(({ claim }) => claim.id).sort((a, b) => a - b);
}

/** Sentences to read before any number: what stands in for what, and what could not be run. */
export function caveatsOf(
  { parts, judged }: Pick<Reproduced, "parts" | "judged">,
  { absent, encoders }: Pick<ReproduceRecord, "absent" | "encoders">,
): string[] {
  const claimsWith = (standIn: string) =>
    sortedIds(judged.filter(({ standIns }) => standIns?.includes(standIn)));
  const standIns = [...Map.groupBy(parts, ({ standIn }) => standIn)].flatMap(([standIn, own]) => {
    const names = own.map(({ experiment }) => experiment.title.split(":")[0]!);
    const ids = own.flatMap(({ experiment }) => claimsWith(experiment.title));
    return standIn === undefined ? [] : [`for ${names.join(", ")}${idsText(ids)} ${standIn}`];
  });
  const run = encoders.map(({ name }) => name).filter((name) => PAPER_ENCODERS.includes(name));
  const missing = [...Map.groupBy(absent, ({ reason }) => reason)].map(
    ([reason, own]) => `${own.map(({ name }) => name).join(", ")} (${reason})`,
  );
  const prompted = claimsWith("OpenAItext");
  const names = run.length > 0 ? `only ${run.join(", ")}` : "none";
  return [
    standIns.length > 0 && `In place of the paper's data: ${standIns.join("; ")}.`,
    missing.length > 0 &&
      `Of the paper's encoders ${names} ${run.length > 1 ? "were" : "was"} run. Not run: ${missing.join("; ")}.`,
    prompted.length > 0 &&
      `Where the paper compares with OpenAItext${idsText(prompted)}, each encoder's own prompts or vectors stand in for it.`,
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

export function verdictText({ verdict, refuted }: Finding): string {
  if (refuted === undefined) return verdict;
  return `${verdict} (${refuted ? "refuted" : "not shown"})`;
}

/** One row per claim, sorted by number. */
export function claimsTable(judged: readonly JudgedClaim[]): Table {
  return {
    title: "The paper's claims and the findings here",
    columns: textColumns({
      id: "",
      claim: "Claim",
      verdict: "Verdict",
      evidence: "Measured here",
      criterion: "Criterion, fixed before the run",
    }),
    rows: byId(judged).map(({ claim, ...finding }) => [
      String(claim.id),
      `${claim.statement} (${claim.place})`,
      verdictText(finding),
      finding.evidence,
      claim.criterion,
    ]),
  };
}

/** One row per claim with a headline, with the curves that it compares; undefined if there is none. */
export function headlinesTable(
  judged: readonly JudgedClaim[],
  results: Results,
): Table | undefined {
  const rows = byId(judged).flatMap(({ claim, ...finding }) => {
    if (!claim.headline) return [];
    const { says, show } = claim.headline;
    const { setting, lines, baselines } = show(results);
    const row = [
      String(claim.id),
      says,
      verdictText(finding),
      finding.cells.length > 0 ? shown(finding.cells) : "",
      lines.length > 0 ? setting : "",
      linesText(lines),
      linesText(baselines),
    ];
    return [row];
  });
  if (rows.length === 0) return undefined;
  const title =
    "The paper's headlines: mean regret of the curves that each compares, in one typical setting";
  const columns = textColumns({
    id: "",
    claim: "Claim",
    verdict: "Verdict",
    shown_in_cells: "Shown in cells",
    setting: "Setting",
    compared: "Compared",
    baselines: "Baselines",
  });
  return { title, columns, rows };
}

/** `MiniLM_5 101.3 / 92.0 / 88.1`, each on its own line; one number if all are equal. */
function linesText(lines: readonly HeadlineLine[]): string {
  const texts = lines.map(({ name, regrets }) => {
    const numbers = regrets.map((runs) => (runs ? fixed(mean(runs), 1) : "\u2013"));
    const all = new Set(numbers).size > 1 ? numbers : numbers.slice(0, 1);
    return `${name} ${all.join(" / ")}`;
  });
  return texts.join(";\n");
}

function byId(judged: readonly JudgedClaim[]): JudgedClaim[] {
  return judged.toSorted((a, b) => a.claim.id - b.claim.id);
}

function textColumns(titles: Readonly<Record<string, string>>): Table["columns"] {
  return Object.entries(titles).map(([key, title]) => ({ key, title, kind: "text" }));
}
