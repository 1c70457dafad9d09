/** Permissions of an API key: send requests, vote on own decisions, read the numbers of all keys, everything. */
export const SCOPES = ["route", "vote", "metrics", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
