import { fillRandom } from "./fresh-bytes.ts";

/** Length of a day in milliseconds. Decisions are stored by day (UTC). */
export const DAY_MS = 86_400_000;

/**
 * A new id of a decision: a UUID of version 7, which begins with the time in milliseconds. Ids of
 * different nodes never collide, ids sort by time, and the id tells on which day its decision is stored.
 */
export function newDecisionId(at: number): string {
  const bytes = Buffer.allocUnsafe(16);
  fillRandom(bytes, 6, 16);
  bytes.writeUIntBE(Math.floor(at), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Time in an id of `newDecisionId`, or undefined for another id. Characters after the UUID are ignored. */
export function timeOfId(id: string): number | undefined {
  return isVersion7(id) ? hexIn(id, 0, 8) * 2 ** 16 + hexIn(id, 9, 13) : undefined;
}

/** Whether a text begins with a UUID of version 7. A pattern would take several times as long, and every request needs this. */
function isVersion7(id: string): boolean {
  if (id.length < UUID_LENGTH || id.charCodeAt(14) !== 0x37) return false;
  for (let i = 0; i < UUID_LENGTH; i++) {
    const code = id.charCodeAt(i);
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (code !== 0x2d) return false;
    } else if (!isHex(code)) return false;
  }
  const variant = id[19]!;
  return variant === "8" || variant === "9" || variant === "a" || variant === "b";
}

const UUID_LENGTH = 36;

/** Whether a character is a hexadecimal digit in lower case. */
function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66);
}

/** The number that hexadecimal digits in lower case stand for. */
function hexIn(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    value = 16 * value + code - (code < 0x61 ? 0x30 : 0x57);
  }
  return value;
}

/** The lowest id of a decision that is made at a time or later. */
export function idsFrom(at: number): string {
  const hex = Math.floor(at).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7`;
}

/** The day on which a decision and its answers are stored, in days since 1970. `at` is used for ids without a time. */
export function dayOf(id: string, at: number): number {
  return Math.floor((timeOfId(id) ?? at) / DAY_MS);
}

/**
 * A sample in which every decision has the same probability, and all its decisions have all their
 * candidates. All duels are stored, but only a share of the ordinary decisions, so the same share
 * of the duels is kept.
 */
export function uniformSample<D extends Sampled>(decisions: readonly D[]): D[] {
  const rate = Math.min(...decisions.map(({ sample = 1 }) => sample || 1));
  const someOmitted = decisions.some(({ omitted = 0 }) => omitted > 0);
  return decisions.filter(
    ({ id, sample }) =>
      sample !== 0 && sampleNumber(id) < rate && (!someOmitted || isStoredInFull(id)),
  );
}

interface Sampled {
  readonly id: string;
  readonly sample?: number | undefined;
  readonly omitted?: number | undefined;
}

/**
 * Whether a decision is among the eighth that is stored with all candidates of a large pool. A
 * function of the id alone, and independent of `sampleNumber`.
 */
export function isStoredInFull(id: string): boolean {
  return (sampleNumber(id) * 2 ** 24) % 1 < 1 / 8;
}

/**
 * A number from 0 to 1 that is a function of the id alone and uniform over ids. A decision is in
 * the sample of rate p if its number is below p, so a sample contains all samples of lower rates.
 */
export function sampleNumber(id: string): number {
  return isVersion7(id) ? hexIn(id, 24, UUID_LENGTH) / 2 ** 48 : 0;
}
