import type { Decision, Reasons } from "./decision.ts";
import { dayOf } from "./decision-id.ts";
import type { Answered } from "./events.ts";
import { checkName, packFloats, unpackArrays } from "./row.ts";
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
  const { id, router, at, owner, x, prompt } = event;
  return {
    day: dayOf(id, at),
    id: checkName("decision", id),
    router,
    at,
    owner: owner ?? null,
    session: storedSession(event),
    x: packedBytesOf(x),
    prompt: prompt ?? null,
    body: decisionBody(event),
  };
}

export function answerRow(event: Answered): AnswerRow {
  const { router, at, decision, slot, owner } = event;
  return {
    day: dayOf(decision, at),
    decision: checkName("decision", decision),
    slot,
    router,
    at,
    owner: owner ?? null,
    body: answerBody(event),
    searched: searchedFields(event),
  };
}

/** The session as it is stored. It is the client's own text, so NUL is removed, which PostgreSQL refuses in text. */
export function storedSession({ session }: Decision): string | null {
  return session?.replaceAll("\u0000", "") ?? null;
}

/** Members of an event that have no column of their own. The body has them. */
type Body<E, Column extends keyof E> = {
  readonly [K in keyof Omit<Required<E>, Column>]: E[K & keyof E];
};

type DecisionColumn = "kind" | "id" | "router" | "at" | "owner" | "session" | "x" | "prompt";

/** JSON of the members without a column. Each is named, because copying all of the others takes longer. */
export function decisionBody(event: Decision): string {
  const body: Body<Decision, DecisionColumn> = {
    mode: event.mode,
    encoder: event.encoder,
    candidates: event.candidates,
    pair: event.pair,
    propensity: event.propensity,
    answers: event.answers,
    seed: event.seed,
    version: event.version,
    values: event.values,
    costs: event.costs,
    lambda: event.lambda,
    reasons: event.reasons,
    omitted: event.omitted,
    sample: event.sample,
  };
  return JSON.stringify(body);
}

type AnswerColumn = "kind" | "decision" | "slot" | "router" | "at" | "owner";

export function answerBody(event: Answered): string {
  const body: Body<Answered, AnswerColumn | "always"> & { readonly always: unknown } = {
    model: event.model,
    status: event.status,
    forJudge: event.forJudge,
    inputTokens: event.inputTokens,
    outputTokens: event.outputTokens,
    cost: event.cost,
    lostCost: event.lostCost,
    latencyMs: event.latencyMs,
    firstByteMs: event.firstByteMs,
    fallbacks: event.fallbacks,
    error: event.error,
    priced: event.priced,
    always: storedAlways(event.always),
  };
  return JSON.stringify(body);
}

function storedAlways(always: Answered["always"]) {
  if (always === undefined || always === "counted") return always;
  const { models, costs, doubts } = always;
  if (models.length > MOST_STORED_MODELS) return "counted";
  return { models, costs: packFloats(costs), doubts: packFloats(doubts) };
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
