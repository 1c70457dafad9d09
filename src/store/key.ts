/** An API key as it is stored: the hash of the key, never the key itself. */
export interface StoredKey {
  /** Public id that names the key in logs and lists. */
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  /** Limit in US dollars per calendar month (UTC). */
  readonly budget?: number | undefined;
  /** Limit in requests per minute. */
  readonly rate?: number | undefined;
  /** Limit of concurrent requests on each node. */
  readonly concurrent?: number | undefined;
  /** Whether requests that did not ask for a duel also get a second answer, to be fetched later. */
  readonly duels?: boolean | "auto" | undefined;
  /** Models that may answer, and routers that may be named. Default: all. */
  readonly models?: readonly string[] | undefined;
  readonly routers?: readonly string[] | undefined;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}

/** New values of a key. Members that are null are removed, undefined ones stay. */
export type KeyChanges = {
  readonly [Name in keyof Omit<StoredKey, "id" | "hash" | "createdAt">]?:
    | StoredKey[Name]
    | null
    | undefined;
};

/** A key before and after a change. */
export interface ChangedKey {
  readonly before: StoredKey;
  readonly after: StoredKey;
}

/** The key with its changes. */
export function withChanges(key: StoredKey, changes: KeyChanges): StoredKey {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...key, ...Object.fromEntries(given) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null)) as unknown as StoredKey;
}

/** Whether a new key has the name of another one that is not revoked. */
export function isNameTaken({ id, name }: StoredKey, keys: readonly StoredKey[]): boolean {
  return keys.some((key) => key.name === name && key.id !== id && key.revokedAt === undefined);
}
