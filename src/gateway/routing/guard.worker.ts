/** Worker of the guard: evaluates a router on the newest part of its log. */
import { serve } from "../../core/threads/serve.ts";
import { addDuelVote, type DuelVotes, evaluate } from "../../learner/evaluate.ts";
import { History } from "../../learner/history.ts";
import { openPostgres } from "../../store/postgres/open.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import type { RouterConfig } from "../config/config.ts";
import { FEWEST_VOTES, guardModel, WINDOW } from "./guard-rule.ts";
import { PolicyKinds } from "./policy-kinds.ts";

export interface GuardTask {
  readonly router: string;
  readonly config: RouterConfig;
  /** Folder that paths in the configuration are relative to. */
  readonly folder: string;
  readonly store: { readonly file: string } | { readonly url: string };
}

const methods = {
  /** Returns the model that should be served instead of routing, if there is one. */
  async judge({ router, config, folder, store: place }: GuardTask): Promise<string | undefined> {
    const kinds = new PolicyKinds();
    await kinds.open(router, config, folder);
    const store = await ("url" in place ? openPostgres(place.url) : openSqlite(place.file));
    try {
      const votes = new Map<string, DuelVotes>();
      const onVote = (vote: Parameters<typeof addDuelVote>[1]) => addDuelVote(votes, vote);
      const from = await store.timeOfNewest(router, WINDOW);
      const position = await store.positionAt(router, from - 1);
      const options = { findPolicy: kinds.find, snapshots: true, from: position, onVote };
      await new History(store, router, options).replay();
      if (votes.size < FEWEST_VOTES) return undefined;
      const targets = [{ name: "routing" }];
      const found = await evaluate(store, router, targets, votes, { findPolicy: kinds.find, from });
      return found && guardModel(found);
    } finally {
      await store.close();
    }
  },
};
export type GuardMethods = typeof methods;

serve(() => methods);
