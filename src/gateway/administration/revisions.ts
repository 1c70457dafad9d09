/** Revisions of the configuration in the store: reading, decrypting and encrypting them. */
import { InputError } from "../../core/input/input-error.ts";
import type { StoredConfiguration } from "../../store/administration.ts";
import { seal, unseal } from "../../store/seal.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../config/config.ts";
import { HttpError } from "../wire/http-error.ts";
import { rememberSecrets } from "../wire/secrets.ts";
import { type Content, configOf, type Document, FIRST_DOCUMENT } from "./document.ts";
import { oldVaultKeys, type VaultPlaces, vaultKey } from "./vault-key.ts";

/** A revision of the configuration with its secrets. */
export interface Revision extends Content {
  readonly revision: number;
}

/** The content before the first change. */
export const FIRST_REVISION: Revision = { revision: 0, document: FIRST_DOCUMENT, secrets: {} };

/**
 * A revision that is a valid configuration, and the error of the newest revision if that one is
 * invalid.
 */
export interface ValidRevision extends Revision {
  readonly config: Config;
  readonly error?: InputError | undefined;
}

/**
 * The newest revision that is a valid configuration, up to `upTo` if it is given. Invalid revisions, for example
 * after an upgrade, are skipped; if no valid one is left, the content before the first change is returned. Throws if
 * the secrets cannot be decrypted. Settings of server, store and keys come from `base`.
 */
export async function newestValid(
  store: Pick<Store, "configuration">,
  base: Config,
  vault: VaultPlaces,
  upTo?: number,
): Promise<ValidRevision> {
  let error: InputError | undefined;
  let limit = upTo;
  while (limit !== 0) {
    const stored = await store.configuration(limit);
    if (!stored) break;
    const revision = openRevision(stored, vault);
    try {
      return { ...revision, config: configOf(revision, base), error };
    } catch (thrown) {
      if (!(thrown instanceof InputError)) throw thrown;
      error ??= thrown;
      limit = stored.revision - 1;
    }
  }
  return { ...FIRST_REVISION, config: base, error };
}

/** A stored revision with its secrets. Throws if they cannot be decrypted. */
export function openRevision(
  { revision, document, sealed }: StoredConfiguration,
  vault: VaultPlaces,
): Revision {
  const text = [undefined, ...oldVaultKeys(vault)]
    .map((key) => unseal(sealed, placeOf(revision), key))
    .find((found) => found !== undefined);
  if (text === undefined) {
    throw new InputError(
      { file: "store", field: "key" },
      `cannot decrypt the provider keys of revision ${revision} of the configuration`,
      vault.isShared
        ? "set JOUST_STORE_KEY to the key with which they were stored"
        : "restore the file secrets.key in the data folder, or set JOUST_STORE_KEY to the key with which they were stored",
    );
  }
  const secrets = JSON.parse(text) as Record<string, string>;
  rememberSecrets(Object.values(secrets));
  return { revision, document: JSON.parse(document) as Document, secrets };
}

/** A revision in the form in which it is stored. Throws if it has secrets and there is no key to encrypt them. */
export function sealRevision(
  { revision, document, secrets }: Revision,
  at: number,
  vault: VaultPlaces,
): StoredConfiguration {
  const hasSecrets = Object.keys(secrets).length > 0;
  const key = hasSecrets ? vaultKey(vault) : undefined;
  if (hasSecrets && !key) throw noStoreKey();
  rememberSecrets(Object.values(secrets));
  const sealed = seal(JSON.stringify(secrets), placeOf(revision), key);
  return { revision, at, document: JSON.stringify(document), sealed };
}

/** Name under which the secrets of a revision are sealed. */
function placeOf(revision: number): string {
  return `configuration ${revision}`;
}

function noStoreKey(): HttpError {
  return new HttpError(409, "provider keys cannot be stored: there is no key to encrypt them", {
    hint: "several nodes share this database: set JOUST_STORE_KEY on each of them (openssl rand -hex 32)",
    code: "store_key_missing",
  });
}
