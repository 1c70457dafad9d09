import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { invalidValue } from "../core/errors/joust-error.ts";

/**
 * Encodes a prompt for storage: encrypted with AES-256-GCM if there is a key of 32 bytes,
 * otherwise as plain text. The first byte tells which; an encrypted prompt continues with nonce,
 * tag and ciphertext. The decision's id is authenticated too, so that the sealed prompts of two
 * decisions cannot be exchanged.
 */
export function seal(text: string, decision: string, key: Uint8Array | undefined): Uint8Array {
  const plain = Buffer.from(text, "utf8");
  if (!key) return Buffer.concat([Buffer.of(PLAIN), plain]);
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(decision));
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([Buffer.of(SEALED), nonce, cipher.getAuthTag(), ...sealed]);
}

/** Decodes a sealed prompt. Returns undefined if the key is missing or wrong or the bytes were changed. */
export function unseal(
  sealed: Uint8Array,
  decision: string,
  key: Uint8Array | undefined,
): string | undefined {
  const bytes = Buffer.from(sealed);
  if (bytes[0] === PLAIN) return bytes.toString("utf8", 1);
  if (bytes[0] !== SEALED || bytes.length < TEXT || !key) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, 1 + NONCE));
  decipher.setAAD(Buffer.from(decision)).setAuthTag(bytes.subarray(1 + NONCE, TEXT));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(TEXT)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

/** Reads a key written as 64 hexadecimal digits or as 32 bytes in base64. */
export function readKey(text: string): Uint8Array {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, "hex")
    : Buffer.from(text, "base64");
  if (bytes.length === 32) return bytes;
  throw invalidValue(
    "the key does not have 32 bytes",
    "create a key with `openssl rand -hex 32` and keep it: stored prompts cannot be read without it",
  );
}

const PLAIN = 0;
const SEALED = 1;
const NONCE = 12;
const TEXT = 1 + NONCE + 16;
