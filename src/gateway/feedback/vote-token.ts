import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { DAY_MS } from "../../store/decision-id.ts";
import { fillRandom } from "../../store/fresh-bytes.ts";
import type { Store } from "../../store/store.ts";
import type { Ballot } from "./ballot.ts";
import { ballotOfBytes, bytesOfBallot, sizeOfBallot } from "./ballot-bytes.ts";

/**
 * Vote tokens: ballots that are encrypted and authenticated (AES-256-GCM) and expire. Any node
 * accepts a vote with a token, even if the row of its decision does not exist. The token does not
 * reveal which models answered.
 *
 * Layout before base64url: format (1 byte), day (2), nonce (12), ciphertext, tag (16). The key of a
 * day is derived from a secret that all nodes share. There is a new secret every 30 days, and old
 * ones are deleted, so that keys rotate without the operator.
 */
export class VoteTokens {
  readonly #store: SecretStore;
  /** Lifetime of a token in milliseconds. May change with the configuration. */
  readonly #lifetime: () => number;
  readonly #secrets = new Map<number, Uint8Array>();
  readonly #keys = new Map<number, KeyObject>();
  #loading: Promise<unknown> | undefined;

  private constructor(store: SecretStore, lifetime: () => number) {
    this.#store = store;
    this.#lifetime = lifetime;
  }

  static async open(store: SecretStore, lifetime: () => number, now: number): Promise<VoteTokens> {
    const tokens = new VoteTokens(store, lifetime);
    await tokens.#load(periodOf(now));
    return tokens;
  }

  /** Loads the secrets of a period and of the next one, and deletes those that no token can need. */
  async #load(period: number): Promise<void> {
    for (const one of [period, period + 1]) await this.#secret(one);
    const oldest = period - Math.ceil((MOST_DAYS + PERIOD_DAYS) / PERIOD_DAYS);
    await this.#store.deleteSecret(secretName(oldest));
  }

  async #secret(period: number): Promise<Uint8Array> {
    const secret = this.#secrets.get(period) ?? (await this.#store.secret(secretName(period)));
    this.#secrets.set(period, secret);
    return secret;
  }

  /**
   * Stores an embedding that is too large for a token, so that the token can refer to it. Resolves
   * to false if the store does not answer. Returns undefined if the embedding fits.
   */
  storeLarge(
    ballot: Ballot & { readonly x: Float64Array },
    now: number,
  ): Promise<boolean> | undefined {
    if (fits(ballot)) return undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), STORE_MS);
    this.#store
      .saveEmbedding(ballot.id, ballot.x, now + this.#lifetime())
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
    return promise;
  }

  issue(ballot: Ballot & { readonly x: Float64Array }, now: number): string {
    const plain = bytesOfBallot(ballot, now + this.#lifetime(), fits(ballot));
    const day = this.#dayOfKey(now);
    const token = Buffer.allocUnsafe(OVERHEAD + plain.length);
    token[0] = FORMAT;
    token.writeUInt16BE(day, 1);
    fillRandom(token, HEADER, TEXT);
    const nonce = token.subarray(HEADER, TEXT);
    const cipher = createCipheriv("aes-256-gcm", this.#key(day), nonce);
    token.set(cipher.setAAD(token.subarray(0, HEADER)).update(plain), TEXT);
    cipher.final(); // GCM has no padding, so nothing is left
    token.set(cipher.getAuthTag(), TEXT + plain.length);
    return token.toString("base64url");
  }

  /** The ballot of a token, or undefined if the token is invalid or has expired. */
  async read(token: string, now: number): Promise<Ballot | undefined> {
    if (token.length > MOST_CHARACTERS || !/^[\w-]+$/.test(token)) return undefined;
    const bytes = Buffer.from(token, "base64url");
    if (bytes.length < OVERHEAD || bytes[0] !== FORMAT) return undefined;
    const day = bytes.readUInt16BE(1);
    const age = Math.floor(now / DAY_MS) - day;
    // Without this check, a forged token could make the store create secrets.
    if (age > MOST_DAYS + 1 || age < -1) return undefined;
    await this.#secret(Math.floor(day / PERIOD_DAYS));
    const plain = unsealed(bytes, this.#key(day));
    if (!plain) return undefined;
    const { ballot, until } = ballotOfBytes(plain);
    return until >= now ? ballot : undefined;
  }

  /** The day whose key is used: today or, if the store was down when a period began, the last one with a key. */
  #dayOfKey(now: number): number {
    const today = Math.floor(now / DAY_MS);
    const period = periodOf(now);
    if (!this.#secrets.has(period + 1)) {
      this.#loading ??= this.#load(period)
        .catch(() => {})
        .finally(() => {
          this.#loading = undefined;
        });
    }
    const newest = Math.max(...this.#secrets.keys());
    return Math.min(today, (newest + 1) * PERIOD_DAYS - 1);
  }

  #key(day: number): KeyObject {
    const known = this.#keys.get(day);
    if (known) return known;
    const secret = this.#secrets.get(Math.floor(day / PERIOD_DAYS))!;
    // A cipher takes a key object several times faster than bytes.
    const bytes = hkdfSync("sha256", secret, "", `vote token ${day}`, 32);
    const key = createSecretKey(new Uint8Array(bytes));
    this.#keys.set(day, key);
    return key;
  }
}

type SecretStore = Pick<Store, "secret" | "deleteSecret" | "saveEmbedding">;

/** Whether a token can contain the ballot's embedding. */
function fits(ballot: Ballot & { readonly x: Float64Array }): boolean {
  const size = sizeOfBallot(ballot, true) + OVERHEAD;
  return Math.ceil((size * 4) / 3) <= MOST_CHARACTERS;
}

function unsealed(bytes: Buffer, key: KeyObject): Buffer | undefined {
  const nonce = bytes.subarray(HEADER, TEXT);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce);
  decipher.setAAD(bytes.subarray(0, HEADER)).setAuthTag(bytes.subarray(-TAG));
  try {
    const sealed = bytes.subarray(TEXT, -TAG);
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    return undefined;
  }
}

function periodOf(now: number): number {
  return Math.floor(now / DAY_MS / PERIOD_DAYS);
}

function secretName(period: number): string {
  return `vote-token-${period}`;
}

const FORMAT = 1;
const HEADER = 3;
const NONCE = 12;
const TAG = 16;
const TEXT = HEADER + NONCE;
const OVERHEAD = HEADER + NONCE + TAG;
const PERIOD_DAYS = 30;
/** Longest lifetime of a token that can be configured, in days. */
const MOST_DAYS = 365;
/** Longest time that a response waits until its embedding is stored. */
const STORE_MS = 1000;
/** Longest token, in characters. */
const MOST_CHARACTERS = 4096;
