import { dayOf } from "./decision-id.ts";
import { type AnswerRow, type DecisionRow, searchedFields } from "./decision-row.ts";
import type { Answered } from "./events.ts";
import { packedBytesOf, vectorOf } from "./vector.ts";

/**
 * A decision or answer as version 0.1 stored it, in one log with the votes. Such rows are moved
 * into their days in the background, the newest first.
 */
export interface LegacyRow {
  readonly position: number;
  readonly router: string;
  readonly kind: "routed" | "answered";
  readonly at: number;
  readonly decision: string;
  readonly slot: number | null;
  readonly owner: string | null;
  readonly session: string | null;
  readonly x: Uint8Array | null;
  readonly body: string;
  readonly prompt: Uint8Array | null;
  /** Time of the decision that an answer belongs to, if it is in the log. */
  readonly decided: number | null;
}

/** Number of rows that are moved in one step. */
export const LEGACY_STEP = 1000;

/**
 * Statement that reads the next rows below a position. `mark(n)` is the placeholder of
 * value n in the database's SQL.
 */
export function legacyQuery(mark: (n: number) => string): string {
  return `
    SELECT l.position, l.router, l.kind, l.at, l.decision, l.slot, l.owner, l.session, l.x, l.body,
           p.sealed AS prompt, d.at AS decided
    FROM legacy_log l
    LEFT JOIN legacy_log d ON l.kind = 'answered' AND d.kind = 'routed' AND d.decision = l.decision
    LEFT JOIN prompts p ON l.kind = 'routed' AND p.decision = l.decision
    WHERE l.position < ${mark(1)} AND l.kind IN ('routed', 'answered')
    ORDER BY l.position DESC LIMIT ${mark(2)}`;
}

export function movedDecision({ decision: id, at, x, ...row }: LegacyRow): DecisionRow {
  const { router, owner, session, prompt, body } = row;
  const vector = packedBytesOf(vectorOf(x!));
  return { day: dayOf(id, at), id, router, at, owner, session, x: vector, prompt, body };
}

export function movedAnswer({ decision, at, decided, ...row }: LegacyRow): AnswerRow {
  const { slot, router, owner, body } = row;
  const day = dayOf(decision, decided ?? at);
  const searched = searchedFields(JSON.parse(body) as Partial<Answered>);
  return { day, decision, slot: slot!, router, at, owner, body, searched };
}
