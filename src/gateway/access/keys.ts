import { randomBytes } from "node:crypto";
import type { Key } from "../../api/admin.ts";
import type { Scope } from "../../api/scopes.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Store, StoredKey } from "../../store/store.ts";
import { hashOf, newSecret } from "./api-key.ts";

/** What an operator can do with keys, by commands and by endpoints. */

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly budget?: number | undefined;
  readonly rate?: number | undefined;
  readonly duels?: boolean | "auto" | undefined;
}

/** The secret is shown here and never again: only its hash is kept. */
export async function addKey(
  store: Store,
  { name, scopes, budget, rate, duels }: NewKey,
  now: number,
): Promise<{ key: StoredKey; secret: string }> {
  const active = (await store.keys()).some((key) => key.name === name && !key.revokedAt);
  if (active) {
    throw new InputError(
      { file: "keys", field: name },
      "is there already",
      "take another name, or revoke it first",
    );
  }
  const secret = newSecret();
  const key: StoredKey = {
    id: `key_${randomBytes(6).toString("hex")}`,
    name,
    hash: hashOf(secret),
    scopes,
    ...(budget !== undefined && { budget }),
    ...(rate !== undefined && { rate }),
    ...(duels !== undefined && { duels }),
    createdAt: now,
  };
  await store.saveKey(key);
  return { key, secret };
}

/** By name or id. Requests under way are finished. */
export async function revokeKey(store: Store, name: string, now: number): Promise<StoredKey> {
  const key = await findKey(store, name);
  const revoked = { ...key, revokedAt: now };
  await store.saveKey(revoked);
  return revoked;
}

/** US dollars a month; undefined: no limit. */
export async function setBudget(
  store: Store,
  name: string,
  budget: number | undefined,
): Promise<StoredKey> {
  const { budget: _, ...key } = await findKey(store, name);
  const changed = { ...key, ...(budget !== undefined && { budget }) };
  await store.saveKey(changed);
  return changed;
}

async function findKey(store: Store, name: string): Promise<StoredKey> {
  const keys = (await store.keys()).filter(({ revokedAt }) => revokedAt === undefined);
  const key = keys.find((one) => one.id === name) ?? keys.find((one) => one.name === name);
  if (key) return key;
  const known = keys.map((one) => one.name).join(", ") || "none";
  throw new InputError({ file: "keys", field: name }, "is no key in use", `there is ${known}`);
}

/** A key as it may be shown. */
export function shownKey({ hash: _, createdAt, revokedAt, ...key }: StoredKey): Key {
  return {
    ...key,
    created_at: new Date(createdAt).toISOString(),
    ...(revokedAt !== undefined && { revoked_at: new Date(revokedAt).toISOString() }),
  };
}
