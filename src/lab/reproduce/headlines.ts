/** The claims that the paper is read for, each with the curves it compares in one typical world. */
import { fixed, type Table } from "../report/table.ts";
import { mean } from "../statistics.ts";
import { verdictText } from "./claims-table.ts";
import type { HeadlineLine } from "./experiment.ts";
import type { JudgedClaim } from "./reproduce.ts";
import type { Results } from "./results.ts";
import { shown } from "./verdict.ts";

/** One row a claim that has a headline, in the order of their numbers; none where there is none. */
export function headlinesTable(
  judged: readonly JudgedClaim[],
  results: Results,
): Table | undefined {
  const rows = judged
    .toSorted((a, b) => a.claim.id - b.claim.id)
    .flatMap(({ claim, ...finding }) => {
      if (!claim.headline) return [];
      const { says, show } = claim.headline;
      const { world, lines, beside } = show(results);
      return [
        [
          String(claim.id),
          says,
          verdictText(finding),
          finding.cells.length > 0 ? shown(finding.cells) : "",
          lines.length > 0 ? world : "",
          lines.map(lineText).join(BREAK),
          beside.map(lineText).join(BREAK),
        ],
      ];
    });
  if (rows.length === 0) return undefined;
  return {
    title:
      "The paper's headlines: mean regret of the curves that each compares, in one typical world",
    columns: ["", "Claim", "Verdict", "Shown in cells", "World", "Compared", "Beside them"].map(
      (title) => ({ key: title.toLowerCase().replaceAll(" ", "_") || "id", title, kind: "text" }),
    ),
    rows,
  };
}

/** A line of its own on the page. */
const BREAK = ";\n";

/** `MiniLM_5 101.3 / 92.0 / 88.1`; one number where all are the same. */
function lineText({ name, regrets }: HeadlineLine): string {
  const numbers = regrets.map((runs) => (runs ? fixed(mean(runs), 1) : "\u2013"));
  const all = new Set(numbers).size > 1 ? numbers : numbers.slice(0, 1);
  return `${name} ${all.join(" / ")}`;
}
