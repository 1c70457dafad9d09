import type { DuelHead } from "./dialect.ts";

/**
 * Id of a call in an answer of a duel. Each upstream begins its ids differently, so its own id would reveal
 * which upstream answered.
 */
export function anonymousCallId({ id }: Pick<DuelHead, "id">, slot: number, index: number): string {
  return `call_${id.replaceAll("-", "")}_${slot}_${index}`;
}
