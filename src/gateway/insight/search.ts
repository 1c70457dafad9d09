import type { z } from "zod";
import type { DecisionsQuery, Decision as ShownDecision } from "../../api/decision.ts";
import type { Cursor, SearchQuery, Store } from "../../store/store.ts";
import type { Caller } from "../access/access.ts";
import { decisionView } from "./decision-view.ts";

/** Conditions of a search as they are in the query of a URL. */
export type RequestFilter = Omit<z.output<typeof DecisionsQuery>, "before" | "limit">;

interface FoundRequests {
  readonly data: readonly ShownDecision[];
  readonly next?: Cursor | undefined;
}

/** One page of requests that fulfil the conditions. A key without the scope `admin` sees its own. */
export async function searchRequests(
  store: Pick<Store, "search">,
  caller: Pick<Caller, "isAdmin" | "owner">,
  filter: RequestFilter,
  { before, limit }: Pick<SearchQuery, "before" | "limit">,
): Promise<FoundRequests> {
  const owner = caller.isAdmin ? filter.key : caller.owner;
  if (!caller.isAdmin && filter.key !== undefined && filter.key !== owner) return { data: [] };
  const query = { ...conditionsOf(filter), owner, before, limit };
  const { records, next } = await store.search({ ...query, exceptHidden: concernsModels(filter) });
  return { data: records.map(decisionView), next };
}

function conditionsOf(filter: RequestFilter): Omit<SearchQuery, "limit"> {
  const { router, session_id: session, model, outcome, vote, text, since, until } = filter;
  return {
    router,
    session,
    model,
    outcome,
    vote,
    text,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
    minCost: filter.min_cost,
    maxCost: filter.max_cost,
    minLatencyMs: filter.min_latency_ms,
    maxLatencyMs: filter.max_latency_ms,
  };
}

/** Whether the conditions are on facts that a duel hides until the vote: its models, what they cost and how they ended. */
function concernsModels(filter: RequestFilter): boolean {
  const { model, outcome, min_cost, max_cost, min_latency_ms, max_latency_ms } = filter;
  const limits = [min_cost, max_cost, min_latency_ms, max_latency_ms];
  // "ok" leaves out answers after a fallback. Whether an answer failed or was cancelled is not hidden.
  const isHiddenOutcome = outcome === "fallback" || outcome === "ok";
  return isHiddenOutcome || [model, ...limits].some((value) => value !== undefined);
}
