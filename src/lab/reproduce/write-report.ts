import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { svgFile } from "../report/svg.ts";
import { toCsv, toLatex, toMarkdown } from "../report/table.ts";
import { caveatsOf, claimsTable, summaryOf, titleWith } from "./claims-report.ts";
import type { Reproduced } from "./experiment.ts";
import type { ReproduceRecord } from "./record.ts";
import { type DrawnItem, reportPage } from "./report-page.ts";

/** Marks a folder as the report of a reproduction. */
const RECORD = "reproduce.json";
const FIGURES = "figures";
const TABLES = "tables";

/** Refuses, before hours of work, a folder that holds other files. */
export async function refuseOtherFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0 || names.includes(RECORD)) return;
  throw new InputError(
    { file: "--out" },
    `${folder} holds ${names.slice(0, 3).join(", ")} but no ${RECORD}, so it is not the folder of an earlier report`,
    "choose another folder, or a new one",
  );
}

/** Writes the report, its figures and tables, and the record. Removes figures and tables of an earlier report. */
export async function writeReport(
  folder: string,
  reproduced: Reproduced,
  record: ReproduceRecord,
): Promise<void> {
  const { parts, results, judged, planner } = reproduced;
  const drawn = new Map<string, DrawnItem[]>();
  const files = new Map<string, string>();
  for (const { experiment, items, standIn } of parts) {
    const own = items.map((item) => ({ item, drawing: item.draw(results) }));
    drawn.set(experiment.name, own);
    for (const { item, drawing } of own) {
      if (drawing.kind === "figure") {
        const title = titleWith(item.withoutQueries ? undefined : standIn, item.title);
        files.set(
          join(FIGURES, `${item.id}.svg`),
          svgFile(title, drawing.pictures, drawing.columns),
        );
      } else {
        files.set(join(TABLES, `${item.id}.csv`), toCsv(drawing.table));
        files.set(join(TABLES, `${item.id}.tex`), toLatex(drawing.table));
      }
    }
  }
  const claims = claimsTable(judged);
  files.set("claims.csv", toCsv(claims));
  files.set("claims.tex", toLatex(claims));
  files.set(
    "claims.md",
    [summaryOf(judged, planner.size), ...caveatsOf(reproduced, record), toMarkdown(claims)].join(
      "\n\n",
    ),
  );
  files.set("report.html", reportPage(reproduced, drawn, record));
  files.set(RECORD, `${JSON.stringify(record)}\n`);
  for (const [name, text] of files) await replaceFile(join(folder, name), text);
  for (const sub of [FIGURES, TABLES]) {
    for (const name of await readdir(join(folder, sub)).catch((): string[] => [])) {
      if (!files.has(join(sub, name))) await rm(join(folder, sub, name), { force: true });
    }
  }
}
