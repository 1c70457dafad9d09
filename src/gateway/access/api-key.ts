import { createHash, randomBytes } from "node:crypto";

/** What a key may do: ask for answers and decisions; vote on any decision of its own; everything. */
export const SCOPES = ["route", "vote", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as it is kept: never itself, only its hash. */
export interface ApiKey {
  /** Names the key in logs and lists; tells nothing of it. */
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** US dollars in a calendar month (UTC). */
  readonly budget?: number | undefined;
  /** Requests a minute. */
  readonly rate?: number | undefined;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}

/** 256 random bits, so that a plain hash is as good as a slow one. Shown once, at creation. */
export function newSecret(): string {
  return `jst_${randomBytes(32).toString("base64url")}`;
}

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** The key of a request: `Authorization: Bearer`, or the header of Anthropic's and Azure's clients. */
export function secretOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const { authorization } = headers;
  if (typeof authorization === "string") return /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
  for (const name of ["x-api-key", "api-key"]) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** `admin` includes the others. */
export function allows(key: Pick<ApiKey, "scopes">, scope: Scope): boolean {
  return key.scopes.includes(scope) || key.scopes.includes("admin");
}
