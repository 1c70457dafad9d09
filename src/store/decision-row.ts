import type { Decision, Reasons } from "./decision.ts";
import { dayOf } from "./decision-id.ts";
import type { Answered } from "./events.ts";
import { checkName, packArrays, unpackArrays } from "./row.ts";
import { packedBytesOf, unpackedVector } from "./vector.ts";

/** A decision as both databases store it: searchable fields in columns, the rest as JSON in `body`. */
export interface DecisionRow {
  readonly day: number;
  readonly id: string;
  readonly router: string;
  readonly at: number;
  readonly owner: string | null;
  readonly session: string | null;
  readonly x: Uint8Array;
  readonly prompt: Uint8Array | null;
  readonly body: string;
}

export interface AnswerRow {
  readonly day: number;
  readonly decision: string;
  readonly slot: number;
  readonly router: string;
  readonly at: number;
  readonly owner: string | null;
  readonly body: string;
  /** Members of the body by which requests are searched. SQLite computes them from the body. */
  readonly searched: SearchedFields;
}

export interface SearchedFields {
  readonly model: string | null;
  /** "failed", "cancelled", "fallback" if another model had failed before, or null. */
  readonly outcome: string | null;
  readonly cost: number | null;
  readonly latency_ms: number | null;
}

export function decisionRow(event: Decision): DecisionRow {
  const { kind: _, router, at, id, owner, session, x, prompt, ...body } = event;
  return {
    day: dayOf(id, at),
    id: checkName("decision", id),
    router,
    at,
    owner: owner ?? null,
    // PostgreSQL refuses NUL in text. The session is the client's own text, so NUL is removed.
    session: session?.replaceAll("\u0000", "") ?? null,
    x: packedBytesOf(x),
    prompt: prompt ?? null,
    body: JSON.stringify(body),
  };
}

export function answerRow(event: Answered): AnswerRow {
  const { kind: _, router, at, decision: id, slot, owner = null, always, ...rest } = event;
  const decision = checkName("decision", id);
  const isLarge = typeof always === "object" && always.models.length > MOST_STORED_MODELS;
  const body = JSON.stringify({ ...rest, always: isLarge ? "counted" : always }, packArrays);
  return {
    day: dayOf(id, at),
    decision,
    slot,
    router,
    at,
    owner,
    body,
    searched: searchedFields(event),
  };
}

/** The searched members of an answer, or of its body as it is stored. */
export function searchedFields(answer: Partial<Answered>): SearchedFields {
  const { model, status, fallbacks, cost, latencyMs } = answer;
  return {
    model: model ?? null,
    outcome: status !== "ok" ? (status ?? null) : fallbacks ? "fallback" : null,
    cost: cost ?? null,
    latency_ms: latencyMs ?? null,
  };
}

/** Largest pool whose numbers are stored in full with each decision and answer. */
export const MOST_STORED_MODELS = 64;

/** Columns of an answer that a query has read. */
export type ReadAnswerRow = Omit<AnswerRow, "day" | "searched">;

/** Columns of a decision that a query has read. `x` only if it was requested. */
export type ReadDecisionRow = Omit<DecisionRow, "day" | "prompt" | "x"> &
  Partial<Pick<DecisionRow, "x">>;

export function decisionOf(row: ReadDecisionRow): Omit<Decision, "x"> & Partial<Decision> {
  const { id, router, at, owner, session, x, body } = row;
  const { reasons, ...rest } = JSON.parse(body) as Omit<Decision, "x">;
  return {
    ...rest,
    ...(reasons && { reasons: renamed(reasons) }),
    // Columns come last: they win over a field of the same name in the body.
    kind: "routed",
    id,
    router,
    at,
    ...(owner !== null && { owner }),
    ...(session !== null && { session }),
    ...(x && { x: unpackedVector(x) }),
  };
}

/** Version 0.1 wrote "asked" for a duel that the request wanted. */
function renamed(reasons: Reasons): Reasons {
  return (reasons.duel as string) === "asked" ? { ...reasons, duel: "requested" } : reasons;
}

export function answerOf(row: ReadAnswerRow): Answered {
  const { decision, slot, router, at, owner, body } = row;
  return {
    ...(JSON.parse(body, unpackArrays) as Omit<Answered, "kind">),
    kind: "answered",
    router,
    at,
    decision,
    slot,
    ...(owner !== null && { owner }),
  };
}
