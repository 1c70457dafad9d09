/** Permissions of an API key: send requests, vote on own decisions, everything. */
export const SCOPES = ["route", "vote", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
