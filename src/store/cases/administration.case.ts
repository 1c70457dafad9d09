import { expect, it } from "vitest";
import type { AuditRecord } from "../administration.ts";
import { T0 } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import type { StoredKey } from "../key.ts";
import type { Change } from "../store.ts";
import type { Stores } from "./stores.fixture.ts";

const record = (n: number, over: Partial<AuditRecord> = {}): AuditRecord => ({
  id: `audit-${n}`,
  at: T0 + n,
  action: "configuration.change",
  target: "routers.auto",
  ...over,
});
const key = (n: number, over: Partial<StoredKey> = {}): StoredKey => ({
  id: `k${n}`,
  name: `key ${n}`,
  hash: `hash ${n}`,
  scopes: ["route"],
  createdAt: T0,
  ...over,
});
const configuration = (revision: number, document = "{}") => ({
  revision,
  at: T0,
  document,
  sealed: Uint8Array.of(0, revision, 255),
});

/** API keys, configurations, the audit log, sessions of the page, nodes and leases. */
export function administrationConforms({ one, both }: Stores): void {
  it("keeps all revisions of the configuration, each with its audit record", async () => {
    const store = await one();
    expect([await store.configuration(), await store.revision()]).toEqual([undefined, 0]);
    const change = { actor: "ann", revision: 1, before: null, after: { mode: "observe" } };
    expect(await store.saveConfiguration(configuration(1, '{"a":1}'), record(1, change))).toBe(
      true,
    );
    expect(await store.saveConfiguration(configuration(2), record(2))).toBe(true);
    const first = (await store.configuration(1))!;
    expect({ ...first, sealed: [...first.sealed] }).toEqual({
      ...configuration(1, '{"a":1}'),
      sealed: [0, 1, 255],
    });
    expect([(await store.configuration())!.revision, await store.revision()]).toEqual([2, 2]);
    expect(await store.audit({ limit: 9 })).toEqual([record(2), record(1, change)]);
  });

  it("saves nothing if another configuration was saved first", async () => {
    const [a, b] = await both();
    await a.saveConfiguration(configuration(1), record(1));
    for (const revision of [1, 3]) {
      expect(await b.saveConfiguration(configuration(revision), record(9))).toBe(false);
    }
    const saved = await Promise.all(
      [a, b, a, b].map((store, i) => store.saveConfiguration(configuration(2), record(10 + i))),
    );
    expect(saved.filter(Boolean)).toHaveLength(1);
    expect(await b.audit({ limit: 9 })).toHaveLength(2);
  });

  it("announces a new configuration", async () => {
    const store = await one();
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    await store.saveConfiguration(configuration(1), record(1));
    await eventually(async () => changes).toEqual([
      { router: "", what: "configuration", position: 1 },
    ]);
  });

  it("reads the audit log in pages, newest first", async () => {
    const store = await one();
    for (const n of [1, 2, 3]) await store.saveAudit(record(n));
    const page = await store.audit({ limit: 2 });
    expect(page.map(({ id }) => id)).toEqual(["audit-3", "audit-2"]);
    expect(await store.audit({ before: "audit-2", limit: 2 })).toEqual([record(1)]);
  });

  it("ends sessions for all nodes, until they would have expired", async () => {
    const [a, b] = await both();
    const later = Date.now() + 3_600_000;
    await a.endSession("s0", 1);
    await a.endSession("s1", later);
    await a.endSession("s2", later);
    await a.endSession("s2", later);
    expect((await b.endedSessions()).toSorted()).toEqual(["s1", "s2"]);
  });

  it("changes members of a key, of which null ones are removed", async () => {
    const [a, b] = await both();
    await a.addKey(key(1, { budget: 5, rate: 60 }));
    const changed = await b.changeKey("k1", { budget: null, rate: undefined, concurrent: 3 });
    expect(changed?.before).toEqual(key(1, { budget: 5, rate: 60 }));
    expect(changed?.after).toEqual(key(1, { rate: 60, concurrent: 3 }));
    expect(await a.keys()).toEqual([changed?.after]);
    expect(await a.changeKey("k2", { rate: 1 })).toBeUndefined();
  });

  it("keeps a key revoked, whatever is changed at the same time", async () => {
    const [a, b] = await both();
    for (let n = 0; n < 20; n++) {
      await a.addKey(key(n));
      await Promise.all([
        a.changeKey(`k${n}`, { rate: 1 }),
        b.changeKey(`k${n}`, { revokedAt: T0 + 1 }),
        a.changeKey(`k${n}`, { budget: 2 }),
      ]);
      expect(await b.changeKey(`k${n}`, { rate: 3 })).toBeUndefined();
    }
    const keys = await a.keys();
    expect(keys.map(({ revokedAt }) => revokedAt)).toEqual(Array(20).fill(T0 + 1));
    expect(keys.filter(({ rate }) => rate === 3)).toEqual([]);
  });

  it("has one key of a name that is not revoked, however many are added at the same time", async () => {
    const [a, b] = await both();
    const add = (n: number) => (n % 2 ? a : b).addKey(key(n, { name: "web" }));
    const added = await Promise.all(Array.from({ length: 10 }, (_, n) => add(n)));
    expect(added.filter(Boolean)).toHaveLength(1);
    const [first, ...others] = await a.keys();
    expect(others).toEqual([]);
    // The same key again changes nothing, because a client may not know whether it was added.
    expect(await b.addKey(first!)).toBe(true);
    await a.changeKey(first!.id, { revokedAt: T0 });
    expect(await b.addKey(key(10, { name: "web" }))).toBe(true);
    expect(await a.keys()).toHaveLength(2);
  });

  it("lists nodes and leases", async () => {
    const [a, b] = await both();
    const node = { id: "n1", version: "1", url: "http://a", startedAt: T0, revision: 0 };
    await a.saveNode(node);
    await a.saveNode({ ...node, revision: 4 });
    await b.saveNode({ ...node, id: "n2" });
    const nodes = await b.nodes();
    expect(nodes.map(({ id, revision }) => [id, revision])).toEqual([
      ["n1", 4],
      ["n2", 0],
    ]);
    expect(nodes[0]!.seen).toBeGreaterThan(0);
    await a.deleteNode("n2");
    expect(await b.nodes()).toHaveLength(1);
    await a.acquireLease("auto", "n1", 60_000);
    expect(await b.leases()).toEqual([{ router: "auto", holder: "n1", until: expect.any(Number) }]);
  });
}
