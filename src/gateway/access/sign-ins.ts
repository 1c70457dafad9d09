import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A session of the page: the API key that somebody signed in with, for a limited time. */
export interface SignIn {
  readonly id: string;
  /** Id of the API key. */
  readonly key: string;
  /** Time in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A session of the page that is valid, with the values that the browser keeps. */
export interface SignedIn {
  /** Name and scopes of the API key. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** Value of the cookie. */
  readonly token: string;
  readonly csrf: string;
}

/** Methods that change nothing, so that a request of another site does no harm. */
export const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Header in which a page proves that it can read the responses of the gateway. */
export const CSRF_HEADER = "x-joust-csrf";

/**
 * Signs the tokens of sessions, which browsers keep in a cookie. A token names the API key and its own expiry, so
 * any node accepts it without a lookup. `secret` is shared by all nodes. `hashOf` returns the hash of an API key: a
 * session ends when its key is removed or replaced.
 */
export class SignIns {
  readonly #secret: Uint8Array;
  readonly #hashOf: (key: string) => string | undefined;

  constructor(secret: Uint8Array, hashOf: (key: string) => string | undefined) {
    this.#secret = secret;
    this.#hashOf = hashOf;
  }

  issue(key: string, expiresAt: number): SignIn {
    return { id: randomBytes(12).toString("base64url"), key, expiresAt: Math.round(expiresAt) };
  }

  tokenOf({ id, key, expiresAt }: SignIn): string {
    const body = [id, Buffer.from(key).toString("base64url"), String(expiresAt)].join(".");
    return `${body}.${this.#mac("session", `${body}.${this.#hashOf(key) ?? ""}`)}`;
  }

  /**
   * The session in the cookies of a request, expired or not; undefined if there is none. If the cookie is forged or
   * its key is gone, the session is reported as expired at time 0.
   */
  in(cookies: unknown): SignIn | undefined {
    const token = typeof cookies === "string" ? PATTERN.exec(cookies)?.[1] : undefined;
    if (token === undefined) return undefined;
    const [id = "", name = "", expiresAt = "", mac = ""] = token.split(".");
    const key = Buffer.from(name, "base64url").toString("utf8");
    const hash = this.#hashOf(key);
    const body = [id, name, expiresAt, hash].join(".");
    const isValid = hash !== undefined && isSame(mac, this.#mac("session", body));
    return { id, key, expiresAt: isValid ? Number(expiresAt) : 0 };
  }

  /** Token that a page of the session sends with each request that changes something. */
  csrfOf({ id }: SignIn): string {
    return this.#mac("csrf", id);
  }

  hasCsrf(signIn: SignIn, given: unknown): boolean {
    return typeof given === "string" && isSame(given, this.csrfOf(signIn));
  }

  #mac(purpose: string, text: string): string {
    return createHmac("sha256", this.#secret).update(`${purpose}\n${text}`).digest("base64url");
  }
}

/** The cookie of a session. Scripts cannot read it, and browsers send it only from pages of this site. */
export function cookieOf(token: string, seconds: number, isSecure: boolean): string {
  const rest = "Path=/; HttpOnly; SameSite=Strict";
  const age = Math.max(0, Math.floor(seconds));
  return `${COOKIE}=${token}; Max-Age=${age}; ${rest}${isSecure ? "; Secure" : ""}`;
}

const COOKIE = "joust_session";
const PATTERN = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;\\s]+)`);

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
