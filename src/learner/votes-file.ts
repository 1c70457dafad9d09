import { createHash } from "node:crypto";
import { z } from "zod";
import { InputError } from "../core/input/input-error.ts";
import { readRows } from "../core/input/rows.ts";
import type { Verdict, Voted } from "../store/events.ts";

/**
 * A line of a file of votes, as `joust votes` reads and writes it:
 *
 *   {"at", "query" | "x", "a", "b", "outcome", "voter"?}       a duel
 *   {"at", "query" | "x", "model", "rating", "voter"?}         a rating of one answer
 *   {"at", "query" | "x", "ranking": [..], "voter"?}           a ranking, best first
 *
 * "encoder" names the encoder of "x". "weight" is optional and 1 by default.
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
  /** Hash of the content and the number of equal lines so far: the same vote has the same id in every file. */
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
  .refine(
    ({ query, x }) => (query === undefined) !== (x === undefined),
    "must have either query or x",
  );
type Row = z.output<typeof ROW>;

const HINT =
  'write a vote as {"at": "2026-11-15T12:00:00Z", "query": "..", "a": "gpt-4", "b": "yi-34b", "outcome": "a"}; outcome is a, b, tie or both_bad';

export async function* readVotes(file: string): AsyncGenerator<VoteLine> {
  const seen = new Map<string, number>();
  for await (const { line, row } of readRows(file, ROW, HINT)) {
    const place = { file, line };
    const at = typeof row.at === "number" ? row.at : Date.parse(row.at);
    if (!Number.isSafeInteger(at) || Math.abs(at) > 8.64e15) {
      throw new InputError({ ...place, field: "at" }, `is ${row.at}, not a time`, HINT);
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
    throw new InputError({ ...place, field: "b" }, "compares a model with itself", HINT);
  }
  if (rating !== undefined && model !== undefined) {
    return { models: [model], verdict: { rating, slot: 0 } };
  }
  if (ranking && new Set(ranking).size === ranking.length) {
    return { models: ranking, verdict: { ranking } };
  }
  throw new InputError(place, "is not a duel, a rating or a ranking", HINT);
}

/** Fields in alphabetical order, so that the id does not depend on their order in the line. */
function sorted(row: Row): [string, unknown][] {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A vote as a line of a file, with the query if its text is known. */
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
