import { unseal } from "../store/seal.ts";
import type { Store } from "../store/store.ts";
import { inPages } from "./pages.ts";
import { VoteSchedule } from "./vote-schedule.ts";
import { voteLine } from "./votes-file.ts";

/**
 * Yields the votes that count as lines of JSON, without comments and votes that were rolled back. A line
 * contains the query if its text was stored and can be decrypted, otherwise the embedding.
 * `onUndecrypted` is called for each stored query that cannot be decrypted.
 */
export async function* exportVotes(
  store: Store,
  router: string,
  key: Uint8Array | undefined,
  onUndecrypted: () => void = () => {},
): AsyncGenerator<string> {
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  for await (const event of inPages((after, limit) => store.logEvents(router, after, limit))) {
    if (event.position > schedule.until) return;
    if (event.kind !== "voted" || "comment" in event.verdict) continue;
    if (schedule.countsAt(event) === undefined) continue;
    // An imported vote has no decision. Its id has no time, so the store would look through all days.
    const sealed = event.source === "import" ? undefined : await store.prompt(event.decision);
    const query = sealed && unseal(sealed, event.decision, key);
    if (sealed && query === undefined) onUndecrypted();
    yield voteLine(event, query);
  }
}
