import { randomFillSync } from "node:crypto";

/** Random bytes that have not been given out. One call of the system's generator fills many of them. */
const POOL = Buffer.allocUnsafeSlow(8192);
let next = POOL.length;

/** Fills a part of the bytes with random ones, for ids and nonces. No random byte is given out twice. */
export function fillRandom(bytes: Uint8Array, from: number, to: number): void {
  if (next + to - from > POOL.length) {
    randomFillSync(POOL);
    next = 0;
  }
  for (let i = from; i < to; i++) {
    bytes[i] = POOL[next]!;
    POOL[next++] = 0;
  }
}
