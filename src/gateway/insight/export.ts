import type { Decision } from "../../api/decision.ts";
import type { Cursor, Store } from "../../store/store.ts";
import type { Caller } from "../access/access.ts";
import { type RequestFilter, searchRequests } from "./search.ts";

interface ExportOptions {
  readonly format: "csv" | "json";
  /** Largest number of requests. */
  readonly limit: number;
}

/** Yields the text of a file with the requests that fulfil the conditions, page by page. */
export async function* exportRequests(
  store: Pick<Store, "search">,
  caller: Pick<Caller, "isAdmin" | "owner">,
  filter: RequestFilter,
  { format, limit }: ExportOptions,
): AsyncGenerator<string> {
  yield format === "csv" ? csvLine(Object.keys(COLUMNS)) : "[";
  let left = limit;
  let separator = "\n";
  for (let before: Cursor | undefined; left > 0; ) {
    const { data, next } = await searchRequests(store, caller, filter, {
      before,
      limit: Math.min(PAGE, left),
    });
    for (const decision of data) {
      if (format === "csv") yield csvLine(Object.values(COLUMNS).map((of) => of(decision)));
      else yield `${separator}${JSON.stringify(decision)}`;
      separator = ",\n";
    }
    left -= data.length;
    if (!next) break;
    before = next;
  }
  if (format === "json") yield "\n]\n";
}

const PAGE = 200;

type Cell = string | number | undefined;

/** Answers that the client got. Beside a single answer, slot 1 has an answer that was made for a judge. */
const givenIn = ({ duel, answers }: Decision) =>
  duel ? answers : answers.filter(({ slot }) => slot === 0);

const sumOf = (decision: Decision, of: "cost" | "input_tokens" | "output_tokens"): Cell => {
  const known = givenIn(decision).flatMap((answer) => answer[of] ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
};

/** Columns of a CSV file. Several values are separated by spaces. */
const COLUMNS: Readonly<Record<string, (decision: Decision) => Cell>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  router: ({ router }) => router,
  key: ({ key }) => key,
  session_id: ({ session_id }) => session_id,
  duel: ({ duel }) => String(duel),
  models: ({ models }) => models?.join(" "),
  status: (decision) =>
    givenIn(decision)
      .map(({ status }) => status)
      .join(" "),
  fallbacks: (decision) =>
    givenIn(decision)
      .flatMap(({ fallbacks = [] }) => fallbacks.map(({ model }) => model))
      .join(" "),
  cost: (decision) => sumOf(decision, "cost"),
  input_tokens: (decision) => sumOf(decision, "input_tokens"),
  output_tokens: (decision) => sumOf(decision, "output_tokens"),
  latency_ms: (decision) =>
    givenIn(decision)
      .flatMap(({ latency_ms }) => latency_ms ?? [])
      .join(" "),
  votes: ({ votes }) =>
    votes
      .map((vote) => vote.outcome ?? vote.rating ?? vote.ranking?.join(">") ?? "comment")
      .join(" "),
};

/** A line of CSV. A cell that a spreadsheet would evaluate as a formula is marked as text. */
export function csvLine(cells: readonly Cell[]): string {
  const texts = cells.map((cell = "") => {
    if (typeof cell === "number") return String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${texts.join(",")}\r\n`;
}
