/** How an answer is compared with a reference answer. */
export const MATCHES = ["contains", "exact", "last"] as const;
export type Match = (typeof MATCHES)[number];
