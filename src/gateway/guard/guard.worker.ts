/** The thread that judges a router by its log, since it goes through all of it. */
import { parentPort, workerData } from "node:worker_threads";
import { collectVerdict, evaluate, type Verdicts } from "../../learner/evaluate.ts";
import { History } from "../../learner/history.ts";
import { openPostgres } from "../../store/postgres/open.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { PolicyKinds } from "../routing/policy-kinds.ts";
import type { GuardTask } from "./guard.ts";
import { FEWEST_VOTES, guardModel } from "./guard-rule.ts";

const { router, config, folder, store: place } = workerData as GuardTask;
const kinds = new PolicyKinds();
await kinds.open(router, config, folder);
const store = await ("url" in place ? openPostgres(place.url) : openSqlite(place.file));
try {
  const votes = new Map<string, Verdicts>();
  const onVote = (vote: Parameters<typeof collectVerdict>[1]) => collectVerdict(votes, vote);
  const history = new History(store, router, { kinds: kinds.find, snapshots: false, onVote });
  await history.replay();
  // Most logs have a million decisions before they have that many votes: they are not gone through for nothing.
  const evaluation =
    votes.size < FEWEST_VOTES
      ? undefined
      : await evaluate(store, router, [{ name: "routing" }], votes, { kinds: kinds.find });
  parentPort!.postMessage({ model: evaluation && guardModel(evaluation) });
} finally {
  await store.close();
}
