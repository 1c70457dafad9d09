import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Key, KeyLimits, NewKey } from "../../api/admin.ts";
import type { Value } from "../../api/common.ts";
import type { Scope } from "../../api/scopes.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { ChangedKey, KeyChanges, StoredKey } from "../../store/key.ts";
import type { Store } from "../../store/store.ts";

/** Creates a key. The secret cannot be read again, because only its hash is stored. */
export async function addKey(
  store: Store,
  { name, ...limits }: Value<typeof NewKey>,
  now: number,
): Promise<{ key: StoredKey; secret: string }> {
  const secret = newSecret();
  const key: StoredKey = {
    id: `key_${randomBytes(6).toString("hex")}`,
    name,
    hash: hashOf(secret),
    ...limits,
    createdAt: now,
  };
  if (await store.addKey(key)) return { key, secret };
  throw new InputError(
    { file: `key ${name}` },
    "already exists",
    "choose another name, or revoke that key first",
  );
}

/** Revokes a key by its name or id. Its running requests continue. */
export async function revokeKey(store: Store, name: string, now: number): Promise<StoredKey> {
  return (await change(store, name, { revokedAt: now })).after;
}

/**
 * Changes scopes and limits of a key. Members that are null are removed, undefined ones stay. If the key has these
 * values already, `before` and `after` are the same object.
 */
export async function changeKey(
  store: Store,
  name: string,
  changes: Value<typeof KeyLimits>,
): Promise<ChangedKey> {
  const { before, after } = await change(store, name, changes);
  return { before, after: isDeepStrictEqual(before, after) ? before : after };
}

async function change(store: Store, name: string, changes: KeyChanges): Promise<ChangedKey> {
  const { id } = await findKey(store, name);
  const changed = await store.changeKey(id, changes);
  // Somebody else may have revoked the key a moment ago.
  if (!changed) throw unknownKey(name, await activeKeys(store));
  return changed;
}

/** The active key with a name or id. Throws if there is none. */
export async function findKey(store: Store, name: string): Promise<StoredKey> {
  const keys = await activeKeys(store);
  const key = keys.find((one) => one.id === name) ?? keys.find((one) => one.name === name);
  if (key) return key;
  throw unknownKey(name, keys);
}

async function activeKeys(store: Store): Promise<StoredKey[]> {
  return (await store.keys()).filter(({ revokedAt }) => revokedAt === undefined);
}

function unknownKey(name: string, keys: readonly StoredKey[]): InputError {
  const names = keys.map((one) => one.name).join(", ") || "none";
  return new InputError(
    { file: `key ${name}` },
    "does not exist or is revoked",
    `give the name or id of an active key; active keys: ${names}`,
  );
}

/** A key without its hash, as the HTTP interface and the commands show it. */
export function shownKey({ hash: _, createdAt, revokedAt, ...key }: StoredKey): Key {
  return {
    ...key,
    created_at: new Date(createdAt).toISOString(),
    ...(revokedAt !== undefined && { revoked_at: new Date(revokedAt).toISOString() }),
  };
}

/** A key as the audit log records it. */
export function recordedKey({ hash: _, name: __, createdAt: ___, ...key }: StoredKey): object {
  return key;
}

/** A new secret. It has 256 random bits, so a fast hash is as safe as a slow one. */
export function newSecret(): string {
  return `jst_${randomBytes(32).toString("base64url")}`;
}

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/**
 * Secret in a request: `Authorization: Bearer`, or the headers of Anthropic's and Azure's clients. A proxy in front may
 * use `Authorization` for itself.
 */
export function secretOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const { authorization } = headers;
  const bearer = typeof authorization === "string" && /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
  if (bearer) return bearer;
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
