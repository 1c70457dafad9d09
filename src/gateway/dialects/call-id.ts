import type { DuelHead } from "./dialect.ts";

/**
 * Id of a call in an answer of a duel. Ids of upstreams begin differently at each of them, so that they would
 * reveal which one has answered.
 */
export function anonymousCallId({ id }: Pick<DuelHead, "id">, slot: number, index: number): string {
  return `call_${id.replaceAll("-", "")}_${slot}_${index}`;
}
