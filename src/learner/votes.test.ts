import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hashEncoder } from "../core/encoder/hash.ts";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../core/input/folder.fixture.ts";
import { configured, MODELS, routed, T0, vote } from "../store/events.fixture.ts";
import type { Voted } from "../store/events.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { seal } from "../store/seal.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { forget, freeze, rollBack, thaw, weigh } from "./controls.ts";
import { findPolicy, voted } from "./events.fixture.ts";
import { exportVotes } from "./export-votes.ts";
import { History } from "./history.ts";
import { type ImportOptions, importVotes } from "./import-votes.ts";
import { readVotes, voteLine } from "./votes-file.ts";

const newFile = newFiles();
const write = temporaryFolder();
let files = 0;
const jsonl = (...lines: readonly (object | string)[]) =>
  write(
    `${files++}.jsonl`,
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
const hashing: ImportOptions = {
  encode: (texts) => hashEncoder.encode(texts),
  encoder: "hash",
  dimension: hashEncoder.dimension,
  time: () => T0,
};
const plain: ImportOptions = { ...hashing, encoder: "test", dimension: 4 };

function openStore(): Store {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

async function folded(store: Store) {
  const history = new History(store, "auto", { findPolicy, snapshots: false });
  await history.replay();
  return history.fold;
}

const exported = (store: Store, key?: Uint8Array) => all(exportVotes(store, "auto", key));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const row = { at: "2026-01-01T00:00:00Z", query: "Why?", a: "ant", b: "bee", outcome: "a" };

describe("votes import", () => {
  it("logs the votes of a file once, however often it is imported", async () => {
    const store = openStore();
    const file = jsonl(row, row, { ...row, voter: "ann" }, { ...row, outcome: "tie" });
    expect(await importVotes(store, "auto", file, hashing)).toEqual({
      votes: 4,
      repeated: 0,
      tooOld: 0,
    });
    expect(await importVotes(store, "auto", file, hashing)).toEqual({
      votes: 0,
      repeated: 4,
      tooOld: 0,
    });
    const [first] = await store.logEvents("auto", 0, 10);
    const [x] = await hashEncoder.encode(["Why?"]);
    expect(first).toMatchObject({
      kind: "voted",
      source: "import",
      at: T0,
      cast: Date.UTC(2026, 0, 1),
      models: ["ant", "bee"],
      x: x!.map(Math.fround),
    });
  });

  it("leaves out votes that may have been pruned, and logs later ones", async () => {
    const store = openStore();
    await store.append([configured()]);
    const lines = Array.from({ length: 20 }, (_, n) => voteLine(voted(n), undefined));
    const time = () => T0 + 60_000;
    await importVotes(store, "auto", jsonl(...lines), { ...plain, time });
    const fold = await folded(store);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const { position } = fold;
    const snapshot = { position, at: time(), hash: fold.hash(), state: fold.toBytes() };
    await store.saveSnapshot({ router: "auto", ...snapshot }, token);
    await store.prune({ votes: { router: "auto", upTo: position } });
    const later = voteLine(voted(20, { at: time() + 1 }), undefined);
    const again = await importVotes(store, "auto", jsonl(...lines, later), plain);
    expect(again).toEqual({ votes: 1, repeated: 0, tooOld: 20 });
    expect((await folded(store)).counts.votes).toBe(21);
  });

  it("refuses votes on models that the router does not have, unless they are allowed", async () => {
    const store = openStore();
    const file = jsonl(row, { ...row, b: "beee" }, { ...row, a: "emu" }, { ...row, b: "emu" });
    const known = { ...hashing, known: MODELS };
    const refused = importVotes(store, "auto", file, known);
    await expect(refused).rejects.toThrow(
      errorText(/:2: 3 votes are on models that the router does not have: beee, emu/),
    );
    await expect(refused).rejects.toThrow(errorText(/hint: .*--allow-unknown/));
    expect(await store.logEvents("auto", 0, 10)).toEqual([]);
    const allowed = await importVotes(store, "auto", file, { ...known, allowUnknown: true });
    expect(allowed).toEqual({
      votes: 4,
      repeated: 0,
      tooOld: 0,
      unknown: { votes: 3, models: ["beee", "emu"] },
    });
  });

  it("works before the router is configured, which then learns from the votes", async () => {
    const [before, after] = [openStore(), openStore()];
    const lines = Array.from({ length: 20 }, (_, n) => voteLine(voted(n), undefined));
    const file = jsonl(...lines);
    await importVotes(before, "auto", file, plain);
    await before.append([configured()]);
    await after.append([configured()]);
    await importVotes(after, "auto", file, plain);
    expect((await folded(before)).counts.votes).toBe(20);
    expect((await folded(before)).hash()).toBe((await folded(after)).hash());
  });

  it.each([
    [{ ...row, outcome: "c" }, /:2: field "outcome": is "c", not one of/],
    [{ ...row, b: "ant" }, /:2: field "b": compares a model with itself/],
    [{ ...row, at: "soon" }, /:2: field "at": is soon, not a time/],
    [{ ...row, query: undefined }, /:2: must have either query or x/],
    [{ ...row, x: [1, 2] }, /:2: must have either query or x/],
    [{ ...row, outcome: undefined }, /:2: is not a duel, a rating or a ranking/],
    [{ at: 5, query: "?", model: "ant", rating: 2 }, /:2: field "rating": is 2, above 1/],
    [{ at: 5, query: "?", ranking: ["ant", "ant"] }, /:2: is not a duel/],
    [
      { ...row, query: undefined, x: [1, 2] },
      /:2: field "x": has 2 numbers, but embeddings of hash have 384/,
    ],
    [{ ...row, query: undefined, x: [1], encoder: "e5" }, /:2: field "encoder": is e5/],
    [{ ...row, voter: "a\u0000b" }, /:2: name .* is not a valid name/],
    ["{", /:2: is not JSON/],
  ])("refuses %j with place and hint, and logs nothing", async (bad, message) => {
    const store = openStore();
    const importing = importVotes(store, "auto", jsonl(row, bad), hashing);
    await expect(importing).rejects.toThrow(errorText(message));
    await expect(importing).rejects.toThrow(errorText(/hint: /));
    expect(await store.head("auto")).toBe(0);
  });
});

describe("votes export", () => {
  it("writes lines that import to the same posterior, bit for bit", async () => {
    // Voters are not weighed, because the file does not contain the estimated utilities.
    const settings = configured({ weighVoters: false });
    const store = openStore();
    await store.append([settings, ...Array.from({ length: 40 }, (_, n) => voted(n))]);
    const copy = openStore();
    await copy.append([settings]);
    await importVotes(copy, "auto", jsonl(...(await exported(store))), plain);
    expect((await folded(copy)).hash()).toBe((await folded(store)).hash());
  });

  it("writes the query if it was stored and can be decrypted, otherwise x", async () => {
    const store = openStore();
    const key = new Uint8Array(32).fill(1);
    await store.append([configured(), vote(1), vote(2)]);
    await store.record([
      routed(1, { prompt: seal("Why?", "d1", key) }),
      routed(2, { prompt: seal("Who?", "d2", undefined) }),
    ]);
    const queries = async (key?: Uint8Array) =>
      (await exported(store, key)).map((line) => (JSON.parse(line) as { query?: string }).query);
    expect(await queries(key)).toEqual(["Why?", "Who?"]);
    expect(await queries()).toEqual([undefined, "Who?"]);
    let undecrypted = 0;
    await all(exportVotes(store, "auto", Buffer.alloc(32, 9), () => undecrypted++));
    expect(undecrypted).toBe(1);
  });

  it("looks for no prompt of an imported vote, which would read all days", async () => {
    const store = openStore();
    await store.append([configured(), vote(1), voted(2, { source: "import" })]);
    const prompt = vi.spyOn(store, "prompt");
    expect(await exported(store)).toHaveLength(2);
    expect(prompt.mock.calls).toEqual([["d1"]]);
  });

  it("leaves out votes that do not count", async () => {
    const store = openStore();
    await store.append([configured(), ...[0, 1, 2, 3, 4, 5].map((n) => voted(n))]);
    await forget(store, "auto", "v1", T0);
    expect(await exported(store)).toHaveLength(5);
  });

  it("reads every vote back as it was written", async () => {
    const votes = fc.nat(1000).map((n) => voted(n, { at: T0 + n, cast: T0 - n }));
    await fc.assert(
      fc.asyncProperty(votes, async (vote: Voted) => {
        const [read] = await all(readVotes(jsonl(voteLine(vote, undefined))));
        const { x, models, verdict, voter, weight, encoder } = vote;
        expect(read).toMatchObject({ x, models, verdict, voter, weight, encoder, at: vote.cast });
      }),
      { seed: 1, numRuns: 50 },
    );
  });
});

describe("operations on learning", () => {
  const start = async () => {
    const store = openStore();
    await store.append([configured(), ...Array.from({ length: 10 }, (_, n) => voted(n))]);
    return store;
  };
  const votesIn = async (store: Store) => (await folded(store)).counts.votes;

  it("freeze and thaw, with or without the votes logged during the freeze", async () => {
    for (const learn of [true, false]) {
      const store = await start();
      await freeze(store, "auto", T0);
      await expect(freeze(store, "auto", T0)).rejects.toThrow(errorText(/already frozen; hint:/));
      await store.append([voted(10), voted(11)]);
      expect(await votesIn(store)).toBe(10);
      await thaw(store, "auto", T0, learn);
      await store.append([voted(12)]);
      expect(await votesIn(store)).toBe(learn ? 13 : 11);
      await expect(thaw(store, "auto", T0, true)).rejects.toThrow(errorText(/not frozen/));
    }
  });

  it("roll back to a time, and then to an earlier one", async () => {
    const store = await start();
    const before = (await folded(store)).hash();
    await store.append([voted(20), voted(21)]);
    expect(await rollBack(store, "auto", { time: T0 + 9500 }, T0 + 30_000)).toBe(2);
    expect((await folded(store)).hash()).toBe(before);
    expect(await rollBack(store, "auto", { time: T0 + 4500 }, T0 + 31_000)).toBe(5);
    expect(await votesIn(store)).toBe(5);
    // Later votes count as usual.
    await store.append([voted(40)]);
    expect(await votesIn(store)).toBe(6);
  });

  it("roll back to a position", async () => {
    const store = await start();
    const [, , third] = await store.logEvents("auto", 0, 3);
    expect(await rollBack(store, "auto", { position: third!.position }, T0)).toBe(8);
    expect(await votesIn(store)).toBe(2);
  });

  it("count the votes of a freeze if a rollback undoes its thaw", async () => {
    const store = await start();
    await freeze(store, "auto", T0);
    await store.append([voted(10), voted(11), voted(12)]);
    const during = await store.head("auto");
    await thaw(store, "auto", T0, true);
    const thawed = await store.head("auto");
    await store.append([voted(13), voted(14)]);
    expect(await votesIn(store)).toBe(15);
    expect(await rollBack(store, "auto", { position: thawed }, T0)).toBe(2);
    expect(await votesIn(store)).toBe(13);
    expect(await rollBack(store, "auto", { position: during }, T0)).toBe(3);
    expect(await votesIn(store)).toBe(10);
  });

  it("never undo votes from before the time that is named, even if a clock was set back", async () => {
    const store = openStore();
    const hour = 3_600_000;
    const before = Array.from({ length: 40 }, (_, n) => voted(n, { at: T0 + n * 1000 }));
    const after = Array.from({ length: 25 }, (_, n) => voted(40 + n, { at: T0 - hour + n * 1000 }));
    await store.append([configured(), ...before, ...after]);
    // No vote has a later time than this one.
    expect(await rollBack(store, "auto", { time: T0 + 60_000 }, T0 + 60_000)).toBe(0);
    expect(await votesIn(store)).toBe(65);
    expect(await rollBack(store, "auto", { time: T0 - hour + 19_500 }, T0 + 60_000)).toBe(5);
    expect(await votesIn(store)).toBe(60);
  });

  it("refuse to roll back to pruned votes", async () => {
    const store = await start();
    const fold = await folded(store);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const position = fold.position;
    const state = fold.toBytes();
    await store.saveSnapshot({ router: "auto", position, at: T0, hash: fold.hash(), state }, token);
    await store.prune({ votes: { router: "auto", upTo: position } });
    await expect(rollBack(store, "auto", { time: T0 + 4500 }, T0)).rejects.toThrow(
      errorText(/were pruned.*hint:/),
    );
  });

  it("exclude a voter from earlier and later votes, and include the voter again", async () => {
    const store = await start();
    const before = await folded(store);
    const weight = (value: number, at: number) =>
      weigh(store, "auto", { voter: "v1", weight: value }, at);
    expect(await weight(0, T0 + 20_000)).toMatchObject({ before: 1, weight: 0 });
    await store.append([voted(21)]);
    const without = await folded(store);
    expect(without.counts.votes).toBe(before.counts.votes - 2);
    expect(without.hash()).not.toBe(before.hash());
    expect((await exported(store)).join()).not.toContain('"v1"');
    // The same weight again logs nothing.
    const head = await store.head("auto");
    expect(await weight(0, T0 + 21_000)).toEqual({ before: 0, weight: 0 });
    expect(await store.head("auto")).toBe(head);
    expect(await weight(1, T0 + 22_000)).toMatchObject({ before: 0, weight: 1 });
    expect((await folded(store)).counts.votes).toBe(before.counts.votes + 1);
  });

  it("weigh a voter: each vote counts as much as one of that weight", async () => {
    const store = await start();
    const lighter = openStore();
    const events = await store.logEvents("auto", 0, 100);
    await lighter.append(
      events.map((event) =>
        event.kind === "voted" && event.voter === "v1"
          ? { ...event, weight: event.weight * 0.3 }
          : event,
      ),
    );
    const full = (await folded(store)).hash();
    await weigh(store, "auto", { voter: "v1", weight: 0.3 }, T0);
    expect((await folded(store)).hash()).toBe((await folded(lighter)).hash());
    await weigh(store, "auto", { voter: "v1", weight: 1 }, T0);
    expect((await folded(store)).hash()).toBe(full);
    const nobody = weigh(store, "auto", { voter: "nobody", weight: 0 }, T0);
    await expect(nobody).rejects.toThrow(errorText(/no vote of "nobody"; hint:/));
  });

  it("have no weight of a voter who was forgotten while the weight was set", async () => {
    const store = await start();
    const append = store.append.bind(store);
    store.append = async (events) => {
      store.append = append;
      await forget(store, "auto", "v1", T0);
      return append(events);
    };
    const late = weigh(store, "auto", { voter: "v1", weight: 0 }, T0);
    await expect(late).rejects.toThrow('no vote of "v1"');
    expect(JSON.stringify(await store.logEvents("auto", 0, 100))).not.toContain('"v1"');
  });

  it("forget the weight of a voter together with the name", async () => {
    const store = await start();
    await weigh(store, "auto", { voter: "v1", weight: 0 }, T0);
    await forget(store, "auto", "v1", T0);
    const events = await store.logEvents("auto", 0, 100);
    expect(JSON.stringify(events)).not.toContain('"v1"');
    await store.append([voted(21)]);
    const { counts } = await folded(store);
    expect(counts.votes).toBe(events.filter(({ kind }) => kind === "voted").length + 1);
  });

  it("forget a voter, as if they had never voted", async () => {
    const store = await start();
    const without = openStore();
    await store.append([
      { ...voted(11), models: [MODELS[0]!, MODELS[1]!], verdict: { outcome: "a" } },
    ]);
    const events = await store.logEvents("auto", 0, 100);
    expect(await forget(store, "auto", "v1", T0)).toBe(3);
    await expect(forget(store, "auto", "nobody", T0)).rejects.toThrow(
      errorText(/no vote of "nobody"; hint: .* key_1234\/ann/),
    );
    // The random numbers depend on positions, so the other log has, in place of each forgotten
    // vote, one that the learner skips because of its encoder.
    await without.append(
      events.map((event) =>
        event.kind === "voted" && event.voter === "v1" ? { ...event, encoder: "another" } : event,
      ),
    );
    expect((await folded(store)).hash()).toBe((await folded(without)).hash());
    expect(JSON.stringify(await store.logEvents("auto", 0, 100))).not.toContain('"v1"');
  });
});
