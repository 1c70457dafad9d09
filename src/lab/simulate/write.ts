import { rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../core/input/replace-file.ts";
import { type Picture, svgFile } from "../report/svg.ts";
import { toCsv, toLatex } from "../report/table.ts";
import { FILES } from "./files.ts";
import { paretoPicture, regretPicture } from "./plots.ts";
import { reportHtml } from "./report.ts";
import type { Result } from "./result.ts";
import { bestOf, pairedTable, ranked, resultTable } from "./result-table.ts";

const MOST_PAIRS = 40; // on a page

/** Writes the figures, tables and pages of a result into a folder. */
export async function writeReport(dir: string, result: Result): Promise<void> {
  const table = resultTable(result);
  const pareto = paretoPicture(result);
  const files: Record<(typeof FILES)[number], string | undefined> = {
    "result.json": `${JSON.stringify(result)}\n`,
    "regret.svg": fileOf(regretPicture(result)),
    "pareto.svg": pareto && fileOf(pareto),
    "report.html": reportHtml(result),
    "table.csv": toCsv(table),
    "table.tex": toLatex(table),
    "paired.csv": toCsv(pairedTable(result)),
    "paired.tex": pairedLatex(result),
  };
  for (const name of FILES) {
    const text = files[name];
    // A figure of an earlier result must not stay beside this one.
    if (text === undefined) await rm(join(dir, name), { force: true });
    else await replaceFile(join(dir, name), text);
  }
}

function fileOf(picture: Picture): string {
  return svgFile(picture.title, [picture]);
}

/** All pairs; if they would not fit on a page, those with the best policy. */
function pairedLatex(result: Result): string {
  const all = pairedTable(result);
  if (all.rows.length <= MOST_PAIRS) return toLatex(all);
  const best = bestOf(ranked(result))!;
  return `% Pairs with the best policy only; paired.csv has all ${all.rows.length}.\n${toLatex(pairedTable(result, best.name))}`;
}
