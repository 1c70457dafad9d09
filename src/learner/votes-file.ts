import { createHash } from "node:crypto";
import { z } from "zod";
import { InputError } from "../core/input/input-error.ts";
import { readRows } from "../core/input/rows.ts";
import type { Verdict, Voted } from "../store/events.ts";

/**
 * Votes in a file of lines, for `joust votes`:
 *
 *   {"at", "query" | "x", "a", "b", "outcome", "voter"?}       a duel
 *   {"at", "query" | "x", "model", "rating", "voter"?}         a like or dislike
 *   {"at", "query" | "x", "ranking": [..], "voter"?}           several, the best first
 *
 * With x comes "encoder", what made it. "weight" is 1 unless said.
 */
export interface VoteLine {
  readonly line: number;
  readonly at: number;
  readonly query: string | undefined;
  readonly x: Float64Array | undefined;
  readonly encoder: string | undefined;
  readonly models: readonly string[];
  readonly verdict: Verdict;
  readonly voter: string;
  readonly weight: number;
  /** The same for the same vote, also in another file; of equal lines each has its own. */
  readonly id: string;
}

const NAME = z.string().min(1).max(256);
const ROW = z
  .object({
    at: z.union([z.string(), z.number()]),
    query: z.string().optional(),
    x: z.array(z.number()).min(1).optional(),
    encoder: NAME.optional(),
    a: NAME.optional(),
    b: NAME.optional(),
    outcome: z.enum(["a", "b", "tie", "both_bad"]).optional(),
    model: NAME.optional(),
    rating: z.number().min(-1).max(1).optional(),
    ranking: z.array(NAME).min(2).optional(),
    voter: z.string().max(256).optional(),
    weight: z.number().min(0).max(1000).optional(),
  })
  .refine(({ query, x }) => (query === undefined) !== (x === undefined), "has not query or x");
type Row = z.output<typeof ROW>;

const REMEDY =
  'a row is {"at": "2026-11-15T12:00:00Z", "query": "..", "a": "gpt-4", "b": "yi-34b", "outcome": "a"}, outcome one of a, b, tie, both_bad';

export async function* readVotes(file: string): AsyncGenerator<VoteLine> {
  const seen = new Map<string, number>();
  for await (const { line, row } of readRows(file, ROW, REMEDY)) {
    const place = { file, line };
    const at = typeof row.at === "number" ? row.at : Date.parse(row.at);
    if (!Number.isSafeInteger(at) || Math.abs(at) > 8.64e15) {
      throw new InputError({ ...place, field: "at" }, `is ${row.at}, no time`, REMEDY);
    }
    const { models, verdict } = verdictOf(row, place);
    const content = createHash("sha256")
      .update(JSON.stringify(sorted(row)))
      .digest("hex");
    const times = (seen.get(content) ?? 0) + 1;
    seen.set(content, times);
    yield {
      line,
      at,
      query: row.query,
      x: row.x && Float64Array.from(row.x),
      encoder: row.encoder,
      models,
      verdict,
      voter: row.voter ?? "",
      weight: row.weight ?? 1,
      id: `import-${content.slice(0, 32)}-${times}`,
    };
  }
}

function verdictOf(
  row: Row,
  place: { readonly file: string; readonly line: number },
): Pick<VoteLine, "models" | "verdict"> {
  const { a, b, outcome, model, rating, ranking } = row;
  if (outcome !== undefined && a !== undefined && b !== undefined) {
    if (a !== b) return { models: [a, b], verdict: { outcome } };
    throw new InputError({ ...place, field: "b" }, "compares a model with itself", REMEDY);
  }
  if (rating !== undefined && model !== undefined) {
    return { models: [model], verdict: { rating, slot: 0 } };
  }
  if (ranking && new Set(ranking).size === ranking.length) {
    return { models: ranking, verdict: { ranking } };
  }
  throw new InputError(place, "is neither a duel nor a rating nor a ranking", REMEDY);
}

/** Members in one order: what a line says, not how it is written. */
function sorted(row: Row): [string, unknown][] {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A vote as a line; `query` where its text is known. */
export function voteLine(vote: Voted, query: string | undefined): string {
  const { verdict, models, voter, weight } = vote;
  const [a, b] = models;
  return JSON.stringify({
    at: new Date(vote.cast ?? vote.at).toISOString(),
    ...(query === undefined ? { x: [...vote.x], encoder: vote.encoder } : { query }),
    ...("outcome" in verdict && { a, b, outcome: verdict.outcome }),
    ...("rating" in verdict && { model: a, rating: verdict.rating }),
    ...("ranking" in verdict && { ranking: verdict.ranking }),
    ...(voter !== "" && { voter }),
    ...(weight !== 1 && { weight }),
  });
}
