import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

/**
 * Lets a browser vote on one decision without a key: the decision's id and an
 * end of validity, signed. The signature is the server's own, so nothing is
 * stored.
 */
export class VoteTokens {
  readonly #secret: KeyObject;

  constructor(secret: Buffer) {
    if (secret.length < 32) throw new RangeError("a secret of vote tokens has at least 32 bytes");
    this.#secret = createSecretKey(secret); // prepared once, a signature takes a sixth of the time
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

/** Late votes are fine, but a page left open for a week is somebody else's. */
const LIFETIME_SECONDS = 7 * 86_400;
