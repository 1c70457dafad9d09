/** The thread that judges a router by the newest part of its log. */
import { parentPort, workerData } from "node:worker_threads";
import { collectVerdict, evaluate, type Verdicts } from "../../learner/evaluate.ts";
import { History } from "../../learner/history.ts";
import { openPostgres } from "../../store/postgres/open.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { PolicyKinds } from "../routing/policy-kinds.ts";
import type { GuardTask } from "./guard.ts";
import { FEWEST_VOTES, guardModel, WINDOW } from "./guard-rule.ts";

const { router, config, folder, store: place } = workerData as GuardTask;
const kinds = new PolicyKinds();
await kinds.open(router, config, folder);
const store = await ("url" in place ? openPostgres(place.url) : openSqlite(place.file));
try {
  const votes = new Map<string, Verdicts>();
  const onVote = (vote: Parameters<typeof collectVerdict>[1]) => collectVerdict(votes, vote);
  const from = Math.max(0, (await store.head(router)) - WINDOW);
  const options = { kinds: kinds.find, snapshots: true, from, onVote };
  await new History(store, router, options).replay();
  const evaluation =
    votes.size < FEWEST_VOTES
      ? undefined
      : await evaluate(store, router, [{ name: "routing" }], votes, { kinds: kinds.find, from });
  parentPort!.postMessage({ model: evaluation && guardModel(evaluation) });
} finally {
  await store.close();
}
