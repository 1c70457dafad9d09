import type { Table } from "../report/table.ts";
import { type Finding, VERDICTS } from "./experiment.ts";
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

/** `Of 31 claims 12 hold here (..), 15 do not (..), and 4 cannot be tested here (..). ..` */
export function headlineOf(judged: readonly JudgedClaim[], runs: number): string {
  const [hold = [], fail = [], open = []] = VERDICTS.map((verdict) =>
    judged.filter((one) => one.verdict === verdict).map(({ claim }) => claim.id),
  );
  const list = (ids: readonly number[]) =>
    ids.length === 0 ? "" : ` (${ids.toSorted((a, b) => a - b).join(", ")})`;
  const refuted = judged.filter((one) => one.refuted).map(({ claim }) => claim.id);
  const opposite =
    refuted.length > 0
      ? `. Of those that do not, the opposite is shown of ${refuted.length}${list(refuted)}; the others are merely not shown`
      : "";
  const holding = `${hold.length} ${hold.length === 1 ? "holds" : "hold"} here${list(hold)}`;
  const failing = `${fail.length} ${fail.length === 1 ? "does" : "do"} not${list(fail)}`;
  const rest = open.length > judged.length / 2 ? " (the others)" : list(open);
  return `Of ${judged.length} claims ${holding}, ${failing}, and ${open.length} cannot be tested here${rest}${opposite}.${cautionOf(runs)}`;
}

function cautionOf(runs: number): string {
  if (runs >= ENOUGH_RUNS) return "";
  return runs === 1
    ? " This rests on one run, which has no intervals: what compares curves is left open."
    : ` This rests on ${runs} runs, whose intervals are wide: what "does not hold" may only be undecided.`;
}

/** The paper's. */
const ENOUGH_RUNS = 5;
