import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "../../api/scopes.ts";
import type { StoredKey } from "../../store/store.ts";

/** A new secret. It has 256 random bits, so a fast hash is as safe as a slow one. */
export function newSecret(): string {
  return `jst_${randomBytes(32).toString("base64url")}`;
}

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Secret in a request: `Authorization: Bearer`, or the headers of Anthropic's and Azure's clients. */
export function secretOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const { authorization } = headers;
  if (typeof authorization === "string") return /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
  for (const name of ["x-api-key", "api-key"]) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** Whether a key has a scope. `admin` includes the others. */
export function allows(key: Pick<StoredKey, "scopes">, scope: Scope): boolean {
  return key.scopes.includes(scope) || key.scopes.includes("admin");
}
