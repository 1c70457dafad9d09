import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { DialectName } from "../../src/gateway/wire/dialect-names.ts";
import { DOCS, fillPage } from "../publish.ts";
import { CELL_TITLES, CELLS, type Cell } from "./cells.ts";
import { type Client, hasCell, needsStore, ROSTER } from "./roster.ts";
import type { Outcome } from "./run-client.ts";

/** Remark about a cell with a gateway that stores responses. */
const STORED =
  "The client refers to stored answers, so the gateway has `store.prompts: true` in this cell.";

const RESULTS = resolve(DOCS, "tables/clients.json");

/** The last run of a client. */
interface Row {
  readonly versions: string;
  readonly date: string;
  /** Problem of a cell with an upstream; null if there is none. */
  readonly cells: Partial<Record<Cell, Partial<Record<DialectName, string | null>>>>;
}

/** Stores the result of a client and writes the table of docs/clients.md again. */
export async function report(
  { name }: Client,
  versions: readonly string[],
  outcome: Outcome,
): Promise<void> {
  const stored: Record<string, Row> = existsSync(RESULTS)
    ? JSON.parse(await readFile(RESULTS, "utf8"))
    : {};
  const cells = Object.fromEntries(
    Object.entries(outcome).map(([cell, problems]) => [
      cell,
      Object.fromEntries(
        Object.entries(problems).map(([dialect, problem]) => [dialect, problem ?? null]),
      ),
    ]),
  );
  const date = new Date().toISOString().slice(0, 10);
  const all = { ...stored, [name]: { versions: versions.join(", "), date, cells } };
  const known = ROSTER.flatMap((client) =>
    all[client.name] ? [[client.name, all[client.name]!] as const] : [],
  );
  await writeFile(RESULTS, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`);
  await fillPage("clients.md", tableOf(new Map(known)));
}

function tableOf(rows: ReadonlyMap<string, Row>): string {
  const notes: string[] = [];
  const noteOf = (reason: string) => {
    if (!notes.includes(reason)) notes.push(reason);
    return notes.indexOf(reason) + 1;
  };
  const lines = ROSTER.flatMap((client) => {
    const row = rows.get(client.name);
    if (!row) return [];
    const cells = CELLS.map((cell) => {
      const reason = client.impossible?.[cell];
      if (reason !== undefined) return `n/a (${noteOf(reason)})`;
      if (!hasCell(client, cell)) return "\u2013";
      const problems = Object.values(row.cells[cell] ?? {});
      const right = problems.filter((problem) => problem === null).length;
      const remark =
        client.partial?.[cell]?.reason ?? (needsStore(client, cell) ? STORED : undefined);
      return `${right}/${problems.length}${remark === undefined ? "" : ` (${noteOf(remark)})`}`;
    });
    const general = client.note === undefined ? "" : ` (${noteOf(client.note)})`;
    const title = `${client.title}${general}`;
    return [[title, row.versions, client.dialect, ...cells, row.date]];
  });
  const titles = CELLS.map((cell) => CELL_TITLES[cell]);
  const head = ["client", "version", "dialect", ...titles, "date"];
  const table = [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`);
  const numbered = notes.map((note, i) => `${i + 1}. ${note}`);
  return [...table, "", ...numbered, ""].join("\n");
}
