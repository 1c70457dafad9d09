/** Rights of an API key: send requests; vote on decisions of the own key; everything. */
export const SCOPES = ["route", "vote", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
