import type { RequestQuery } from "../../../src/client.ts";

/** The fields of the search form, as they are in the URL: #/requests?outcome=failed&hours=24. */
export const FIELDS = [
  "text",
  "router",
  "model",
  "key",
  "outcome",
  "vote",
  "hours",
  "from",
  "to",
  "min_cost",
  "max_cost",
  "min_seconds",
  "max_seconds",
  "session_id",
] as const;

/** The contents of the form. A missing field sets no condition. */
export type Filter = Partial<Record<(typeof FIELDS)[number], string>>;

export function filterOf(search: string): Filter {
  const given = new URLSearchParams(search);
  return Object.fromEntries(
    FIELDS.flatMap((name) => (given.get(name) ? [[name, given.get(name)!]] : [])),
  );
}

export function requestsHref(filter: Filter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  const search = new URLSearchParams(given as [string, string][]).toString();
  return search === "" ? "#/requests" : `#/requests?${search}`;
}

/** The conditions that the gateway understands. `now` is the end of a span of hours. */
export function queryOf(filter: Filter, now: number): RequestQuery {
  const { hours, from, to, min_cost, max_cost, min_seconds, max_seconds, ...rest } = filter;
  const number = (text: string | undefined, factor = 1) => {
    const value = text === undefined || text === "" ? Number.NaN : factor * Number(text);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const span = hours === "custom" ? undefined : number(hours, HOUR_MS);
  const isCustom = hours === "custom";
  return {
    ...(rest as RequestQuery),
    min_cost: number(min_cost),
    max_cost: number(max_cost),
    min_latency_ms: number(min_seconds, 1000),
    max_latency_ms: number(max_seconds, 1000),
    since: span === undefined ? timeIn(isCustom, from) : new Date(now - span).toISOString(),
    until: timeIn(isCustom, to),
  };
}

const HOUR_MS = 3_600_000;

/** The moment in a field for date and time, which is in local time. */
function timeIn(isCustom: boolean, text: string | undefined): string | undefined {
  const time = isCustom && text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
