import type { Table } from "../report/table.ts";
import type { Finding } from "./experiment.ts";
import type { JudgedClaim } from "./reproduce.ts";

/** One row a claim, in the order of their numbers. */
export function claimsTable(judged: readonly JudgedClaim[]): Table {
  const sorted = judged.toSorted((a, b) => a.claim.id - b.claim.id);
  return {
    title: "What the paper claims, and what is found here",
    columns: [
      { key: "id", title: "", kind: "text" },
      { key: "claim", title: "Claim", kind: "text" },
      { key: "verdict", title: "Verdict", kind: "text" },
      { key: "evidence", title: "Measured here", kind: "text" },
      { key: "criterion", title: "Criterion, fixed before the run", kind: "text" },
    ],
    rows: sorted.map(({ claim, ...finding }) => [
      String(claim.id),
      `${claim.statement} (${claim.place})`,
      verdictText(finding),
      finding.evidence,
      claim.criterion,
    ]),
  };
}

export function verdictText({ verdict, refuted }: Finding): string {
  if (refuted === undefined) return verdict;
  return `${verdict} (${refuted ? "refuted" : "not shown"})`;
}

/** `Of 31 claims 7 hold here (..); 3 are refuted: ..; 19 are not shown either way (..); 2 cannot be tested here (..).` */
export function headlineOf(judged: readonly JudgedClaim[], runs: number): string {
  const group = (of: (one: Finding) => boolean) =>
    judged
      .filter(of)
      .map(({ claim }) => claim.id)
      .sort((a, b) => a - b);
  const list = (ids: readonly number[]) => (ids.length === 0 ? "" : ` (${ids.join(", ")})`);
  const hold = group(({ verdict }) => verdict === "holds");
  const refuted = group((one) => one.refuted === true);
  const open = group((one) => one.verdict === "does not hold" && !one.refuted);
  const untested = group(({ verdict }) => verdict === "cannot be tested here");
  const number = (ids: readonly number[], one: string, many: string) =>
    `${ids.length} ${ids.length === 1 ? one : many}`;
  const rest = untested.length > judged.length / 2 ? " (the others)" : list(untested);
  const groups = [
    `${number(hold, "holds", "hold")} here${list(hold)}`,
    `${number(refuted, "is refuted, its", "are refuted, their")} opposite being shown${list(refuted)}`,
    `${number(open, "is", "are")} not shown either way${list(open)}`,
    `${untested.length} cannot be tested here${rest}`,
  ];
  return `Of ${judged.length} claims ${groups.join("; ")}.${cautionOf(runs)}`;
}

function cautionOf(runs: number): string {
  if (runs >= ENOUGH_RUNS) return "";
  return runs === 1
    ? " This rests on one run, which has no intervals: what compares curves is left open."
    : ` This rests on ${runs} runs, whose intervals are wide: more is left open than with five.`;
}

/** The paper's. */
const ENOUGH_RUNS = 5;
