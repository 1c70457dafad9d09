import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../replace-file.ts";
import { toCsv, toLatex, toMarkdown } from "../report/table.ts";
import { titled } from "../report/titled.ts";
import { caveatsOf, titleOf } from "./caveats.ts";
import { claimsTable, headlineOf } from "./claims-table.ts";
import { headlinesTable } from "./headlines.ts";
import { type DrawnExhibit, pageOf } from "./page.ts";
import type { Record } from "./record.ts";
import type { Reproduced } from "./reproduce.ts";

/** Says whose a folder is. */
const MARK = "reproduce.json";
const FIGURES = "figures";
const TABLES = "tables";

/** Refuses, before hours of work, a folder with something of another making in it. */
export async function refuseForeign(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0 || names.includes(MARK)) return;
  throw new InputError(
    { file: "--out" },
    `${folder} holds ${names.slice(0, 3).join(", ")}, and no ${MARK} to say that it was made here`,
    "choose another folder, or a new one",
  );
}

/** The report, its figures and tables, and the record. Figures of an earlier report that this one lacks go. */
export async function writeReproduction(
  folder: string,
  reproduced: Reproduced,
  record: Record,
): Promise<void> {
  const drawn = new Map<string, DrawnExhibit[]>();
  const files = new Map<string, string>();
  for (const { experiment, exhibits, standIn } of reproduced.parts) {
    const own = exhibits.map((exhibit) => ({ exhibit, drawing: exhibit.draw(reproduced.results) }));
    drawn.set(experiment.name, own);
    for (const { exhibit, drawing } of own) {
      if (drawing.kind === "figure") {
        const title = titleOf(exhibit.title, exhibit.withoutQueries ? undefined : standIn);
        files.set(join(FIGURES, `${exhibit.id}.svg`), titled(drawing.svg, title));
      } else {
        files.set(join(TABLES, `${exhibit.id}.csv`), toCsv(drawing.table));
        files.set(join(TABLES, `${exhibit.id}.tex`), toLatex(drawing.table));
      }
    }
  }
  const claims = claimsTable(reproduced.judged);
  files.set("claims.csv", toCsv(claims));
  files.set("claims.tex", toLatex(claims));
  const headline = headlineOf(reproduced.judged, reproduced.bench.size.runs);
  const headlines = headlinesTable(reproduced.judged, reproduced.results);
  const text = [
    headline,
    ...(headlines ? [toMarkdown(headlines)] : []),
    ...caveatsOf(reproduced, record),
    toMarkdown(claims),
  ];
  files.set("claims.md", text.join("\n\n"));
  files.set("report.html", pageOf(reproduced, drawn, record));
  files.set(MARK, `${JSON.stringify(record)}\n`);
  for (const sub of [FIGURES, TABLES]) await mkdir(join(folder, sub), { recursive: true });
  for (const [name, text] of files) await replaceFile(join(folder, name), text);
  for (const sub of [FIGURES, TABLES]) {
    for (const name of await readdir(join(folder, sub))) {
      if (!files.has(join(sub, name))) await rm(join(folder, sub, name), { force: true });
    }
  }
}
