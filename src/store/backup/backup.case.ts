import { join } from "node:path";
import { expect } from "vitest";
import { DAY_MS } from "../decision-id.ts";
import { answered, configured, routed, T0, vote, xOf } from "../events.fixture.ts";
import type { Store } from "../store.ts";
import { monthOf } from "../tally.ts";
import { toHalf } from "../vector.ts";
import type { Manifest } from "./manifest.ts";

/** Fills a store with something in every table. */
export async function fill(store: Store): Promise<void> {
  await store.append([configured(), ...[1, 2, 3].map((n) => vote(n))]);
  await store.append([vote(4, { outcome: "b" }, { voter: "bob", router: "other" })]);
  for (const n of [1, 2, 3]) {
    const at = T0 + n * DAY_MS;
    const prompt = Uint8Array.of(0, n);
    await store.record([
      routed(n, { at, owner: "k1", session: "s", prompt, reasons: { guard: "\u0000" } }),
      answered(n, 0, { at, owner: "k1" }),
    ]);
  }
  const token = (await store.acquireLease("auto", "me", 60_000))!;
  const position = await store.head("auto");
  const state = Uint8Array.of(1, 2, 3);
  await store.saveSnapshot({ router: "auto", position, at: T0, hash: "h", state }, token);
  await store.addKey({ id: "k1", name: "web", hash: "ab", scopes: ["route"], createdAt: T0 });
  await store.secret("vote-token-1");
  await store.saveEmbedding("d1", toHalf(xOf(1, 8)), Date.now() + DAY_MS);
  await store.append([vote(5)]);
  // The position of the last event is not reused although its row is gone.
  await store.append([vote(6, { outcome: "a" }, { voter: "eve", router: "third" })]);
  await store.forget("third", "eve", T0);
}

/** Everything that can be read from a store that `fill` has filled. */
async function contentOf(store: Store): Promise<unknown> {
  const query = { router: "auto", from: T0, to: T0 + 9 * DAY_MS, step: DAY_MS };
  const snapshot = (await store.snapshot("auto"))!;
  return {
    events: await Promise.all(
      ["auto", "other", "third"].map((name) => store.logEvents(name, 0, 99)),
    ),
    routers: await store.routers(),
    routed: await store.routed({ router: "auto", limit: 9 }),
    decisions: await store.decisions({ limit: 9 }),
    prompt: [...(await store.prompt("d2"))!],
    tallies: await store.tallies(query),
    spent: await store.spent("k1", monthOf(T0)),
    snapshot: { ...snapshot, state: [...snapshot.state] },
    keys: await store.keys(),
    secret: Buffer.from(await store.secret("vote-token-1")).toString("hex"),
    embedding: await store.embedding("d1"),
  };
}

/** A store that can be backed up, and one that a backup can be restored into. */
export interface Places {
  readonly source: Store;
  readonly backUp: (folder: string) => Promise<Manifest>;
  readonly restore: (folder: string) => Promise<Store>;
}

/** A backup that is made while votes are cast contains everything from before it, and can be continued. */
export async function restoresEverything(
  { source, backUp, restore }: Places,
  folder: string,
): Promise<void> {
  await fill(source);
  const before = await contentOf(source);
  const head = Math.max(
    ...(await Promise.all(["auto", "other", "third"].map((r) => source.head(r)))),
  );
  const more = source.append([vote(1, { outcome: "a" }, { router: "later" })]);
  const manifest = await backUp(join(folder, "backup"));
  await more;
  expect(manifest.position).toBeGreaterThanOrEqual(head);
  const restored = await restore(join(folder, "backup"));
  expect(await contentOf(restored)).toEqual(before);
  const [receipt] = await restored.append([vote(100)]);
  expect(receipt).toMatchObject({ status: "logged" });
  expect(await restored.head("auto")).toBeGreaterThan(manifest.position);
  const [again] = await restored.append([vote(1)]);
  expect(again).toEqual({ status: "repeated", isLearned: true });
}
