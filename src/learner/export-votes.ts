import { unseal } from "../store/seal.ts";
import type { Store } from "../store/store.ts";
import { inPages } from "./pages.ts";
import { Script } from "./script.ts";
import { voteLine } from "./votes-file.ts";

/**
 * The votes that count, as lines: not those rolled back, and not those of
 * forgotten voters. With the query where its text was kept and can be read, else with x; `onUnread`
 * hears of each that was kept and cannot be.
 */
export async function* exportVotes(
  store: Store,
  router: string,
  key: Uint8Array | undefined,
  onUnread: () => void = () => {},
): AsyncGenerator<string> {
  const script = new Script(await store.controls(router), await store.head(router));
  for await (const event of inPages((after, limit) => store.learning(router, after, limit))) {
    if (event.position > script.until) return;
    if (event.kind !== "voted" || script.place(event) === undefined) continue;
    const sealed = await store.prompt(event.decision);
    const query = sealed && unseal(sealed, event.decision, key);
    if (sealed && query === undefined) onUnread();
    yield voteLine(event, query);
  }
}
