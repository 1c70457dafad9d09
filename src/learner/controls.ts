/** What an operator can do to what was learnt, as commands and endpoints have it. */
import { InputError } from "../core/input/input-error.ts";
import type { Control } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { inPages } from "./pages.ts";
import { Script } from "./script.ts";

/** From now on votes are kept but teach nothing. */
export async function freeze(store: Store, router: string, at: number): Promise<void> {
  if (await isFrozen(store, router)) {
    throw new InputError({ file: router }, "is frozen already", "thaw it to let votes teach again");
  }
  await log(store, { kind: "frozen", router, at });
}

/** Votes teach again, and those kept meanwhile are learnt, unless they are not wanted. */
export async function thaw(
  store: Store,
  router: string,
  at: number,
  learn: boolean,
): Promise<void> {
  if (!(await isFrozen(store, router))) {
    throw new InputError({ file: router }, "is not frozen", "nothing needs to be done");
  }
  await log(store, { kind: "thawed", router, at, learn });
}

/** Undoes what votes have taught after a time; how many votes that concerns. */
export async function rollBack(
  store: Store,
  router: string,
  time: number,
  at: number,
): Promise<number> {
  const to = await store.positionAt(router, time);
  const horizon = await store.horizon(router);
  if (to < horizon) {
    throw new InputError(
      { file: router },
      "votes of that time were pruned, and what is left begins later",
      "roll back to a later time",
    );
  }
  const before = new Script(await store.controls(router), await store.head(router));
  let undone = 0;
  for await (const event of inPages((after, limit) => store.learning(router, after, limit), to)) {
    if (event.kind === "voted" && before.place(event) !== undefined) undone++;
  }
  await log(store, { kind: "rolled_back", router, at, to });
  return undone;
}

/** As if this voter had never voted; how many votes that concerns. */
export async function forget(
  store: Store,
  router: string,
  voter: string,
  at: number,
): Promise<number> {
  const votes = await store.votesOf(router, voter);
  if (votes === 0) {
    throw new InputError(
      { file: router },
      `has no vote of "${voter}"`,
      "voters are named as in votes export: after a key's id, as in key_1234/ann, where one was used",
    );
  }
  await log(store, { kind: "voter_forgotten", router, at, voter });
  return votes;
}

async function isFrozen(store: Store, router: string): Promise<boolean> {
  return new Script(await store.controls(router), await store.head(router)).frozen;
}

async function log(store: Store, event: Control): Promise<void> {
  await store.append([event]);
}
