/**
 * A gateway without HTTP, as a process that tests kill, pause and disconnect. It routes, logs, votes,
 * learns and follows. It prints "ack ID VOTER" for each acknowledged vote. After SIGTERM it waits until it
 * serves all votes, prints "served VERSION HASH" and ends.
 *
 *   node node.fixture.ts NAME sqlite:FILE|postgres://.. LEASE_MS
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../core/random/random.ts";
import { configured, MODELS, xOf } from "../store/events.fixture.ts";
import type { Voted } from "../store/events.ts";
import { GroupCommit } from "../store/group-commit.ts";
import { openPostgres } from "../store/postgres/open.ts";
import { openSqlite } from "../store/sqlite/open.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { findPolicy } from "./events.fixture.ts";
import { hashOf } from "./fold.ts";
import { Follower } from "./follower.ts";
import { Learner } from "./learner.ts";

const [name = "a", place = "", leaseMs = "10000"] = process.argv.slice(2);
const store = await (place.startsWith("sqlite:")
  ? openSqlite(place.slice("sqlite:".length))
  : openPostgres(place));
if ((await store.controls("auto")).length === 0) await store.append([configured()]);
const log = new GroupCommit(store, { delayMs: 20 });
const follower = new Follower({
  store,
  router: "auto",
  findPolicy,
  settings: { explore: 0.1 },
  pollMs: 100,
});
const learner = new Learner({
  store,
  router: "auto",
  holder: name,
  findPolicy,
  settings: { leaseMs: Number(leaseMs), pollMs: 100, saveMs: 50 },
  onLearned: (fold) => follower.adopt(fold),
  onError: (error) => {
    console.error(error);
    process.exit(1);
  },
});
let isStopped = false;
process.once("SIGTERM", () => {
  isStopped = true;
});

await follower.start();
learner.start();
console.log("ready");
await Promise.all(["v0", "v1", "v2"].map(work));
await log.close();
// The lease may still be that of a process that was killed.
while (follower.serving!.version < (await store.head("auto"))) await sleep(20);
await learner.stop();
await follower.load();
await follower.stop();
const { router, version } = follower.serving!;
const { policy, voters } = router.snapshot();
console.log(`served ${version} ${hashOf({ policy, voters })}`);
await store.close();

/** One client: sends requests and votes on each duel, repeating a vote until it is acknowledged. */
async function work(voter: string): Promise<void> {
  const start = Date.now();
  for (let n = 0; !isStopped; n++) {
    const decision = `${name}-${start}-${voter}-${n}`;
    const { router, version } = follower.serving!;
    const x = xOf(start + n);
    const random = Random.seeded(n);
    const candidates = MODELS.map((_, k) => k);
    const { pair, propensity, values } = router.route({ id: decision, x, candidates }, random);
    log.log({
      kind: "routed",
      router: "auto",
      at: Date.now(),
      id: decision,
      mode: "apply",
      encoder: "test",
      x,
      candidates: MODELS,
      pair: [MODELS[pair[0]]!, MODELS[pair[1]]!],
      propensity,
      seed: n,
      version,
      ...(values && { values: [...values] }),
      lambda: 0,
    });
    if (pair[0] === pair[1]) continue;
    const verdict = { outcome: (["a", "b", "tie"] as const)[n % 3]! };
    const vote: Omit<Voted, "at"> = {
      kind: "voted",
      router: "auto",
      decision,
      voter,
      verdict,
      source: "user",
      weight: 1,
      encoder: "test",
      x,
      models: pair.map((k) => MODELS[k]!),
      ...(values && { values: pair.map((k) => values[k]!) }),
    };
    for (;;) {
      try {
        await log.vote({ ...vote, at: Date.now() });
        console.log(`ack ${decision} ${voter}`);
        // A client that missed the acknowledgement sends the vote again.
        if (n % 5 === 0) await log.vote({ ...vote, at: Date.now() });
        break;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (isStopped) return;
        await sleep(50);
      }
    }
    await sleep(2);
  }
}
