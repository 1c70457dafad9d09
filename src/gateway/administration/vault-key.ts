import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { InputError } from "../../core/input/input-error.ts";
import { readKey } from "../../store/seal.ts";

export interface VaultPlaces {
  /** `store.key` of the configuration. */
  readonly key: string | undefined;
  /** Whether several nodes share the database. */
  readonly isShared: boolean;
  /** The data folder. */
  readonly folder: string;
}

/**
 * The key that encrypts the keys of providers in the store: `store.key`, or else a file in the data folder that only
 * its owner may read. Undefined for a database of several nodes without `store.key`: a file of one node would be
 * useless on the others.
 */
export function vaultKey({ key, isShared, folder }: VaultPlaces): Uint8Array | undefined {
  if (key !== undefined) return readKey(key);
  if (isShared) return undefined;
  const file = join(folder, KEY_FILE);
  mkdirSync(folder, { recursive: true });
  return createKey(file) ?? readKeyFile(file);
}

/** The keys with which secrets may have been encrypted: after `store.key` was set, the file still reads the old ones. */
export function oldVaultKeys({ key, isShared, folder }: VaultPlaces): Uint8Array[] {
  const file = join(folder, KEY_FILE);
  return [
    ...(key === undefined ? [] : [readKey(key)]),
    ...(!isShared && existsSync(file) ? [readKeyFile(file)] : []),
  ];
}

function readKeyFile(file: string): Uint8Array {
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  const text = readFileSync(file, "utf8").trim();
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, "hex");
  throw new InputError(
    { file },
    "is damaged: it does not have 64 hexadecimal digits",
    "restore it from a backup; without it, the stored keys of providers cannot be read",
  );
}

const KEY_FILE = "secrets.key";

/** Creates the file with a new key, complete from the beginning. Returns undefined if it exists. */
function createKey(file: string): Uint8Array | undefined {
  if (existsSync(file)) return undefined;
  const key = randomBytes(32);
  const temporary = `${file}.${process.pid}`;
  const descriptor = openSync(temporary, "w", 0o600);
  try {
    writeSync(descriptor, `${key.toString("hex")}\n`);
    // The key must be on disk before any configuration is encrypted with it.
    fsyncSync(descriptor);
    linkSync(temporary, file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  } finally {
    closeSync(descriptor);
    unlinkSync(temporary);
  }
}
