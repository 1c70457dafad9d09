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

const VERSION_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-([0-9a-f]{12})/;

/** Time in an id of `newDecisionId`, or undefined for another id. Characters after the UUID are ignored. */
export function timeOfId(id: string): number | undefined {
  const parts = VERSION_7.exec(id);
  return parts ? Number.parseInt(parts[1]! + parts[2]!, 16) : undefined;
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
 * Decisions that represent all decisions equally and have all their candidates. Duels are always
 * stored, and in full, while ordinary decisions are stored only in part, so duels that a sample of
 * the lowest rate would not contain are left out.
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
  const random = VERSION_7.exec(id)?.[3];
  return random === undefined ? 0 : Number.parseInt(random, 16) / 2 ** 48;
}
