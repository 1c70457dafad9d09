import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { DAY_MS, newDecisionId } from "../../store/decision-id.ts";
import { MODELS, routed, xOf } from "../../store/events.fixture.ts";
import { newFiles } from "../../store/folder.fixture.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { toHalf } from "../../store/vector.ts";
import { ballotOf } from "./ballot.ts";
import { VoteTokens } from "./vote-token.ts";

const newFile = newFiles();
const NOW = Date.UTC(2026, 10, 16, 12);
const LIFETIME = 30 * DAY_MS;

function openStore() {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

function ballot(dimension = 256, over: Partial<Parameters<typeof ballotOf>[0]> = {}) {
  const x = toHalf(xOf(1, dimension));
  const decision = routed(1, { id: newDecisionId(NOW), at: NOW, x, version: 2 ** 40, ...over });
  return { ...ballotOf(decision), x };
}

const open = (store = openStore(), now = NOW) => VoteTokens.open(store, () => LIFETIME, now);

describe("a vote token", () => {
  it("carries everything that a vote needs, in at most 4096 characters", async () => {
    const tokens = await open();
    for (const dimension of [4, 256, 384, 768, 1024]) {
      const given = ballot(dimension, { owner: "key_1" });
      const token = tokens.issue(given, NOW);
      expect(token.length).toBeLessThanOrEqual(4096);
      const { candidates, values, ...rest } = (await tokens.read(token, NOW))!;
      const { candidates: _, values: all, ...own } = given;
      expect(rest).toEqual(own);
      // Only the models that were shown are needed.
      expect(candidates).toEqual(given.models);
      expect(values).toEqual(given.models.map((model) => all![MODELS.indexOf(model)]));
    }
  });

  it("says whether the client got the first answer of a duel alone", async () => {
    const tokens = await open();
    for (const duel of ["requested", "later"] as const) {
      const given = ballot(16, { reasons: { duel } });
      const read = await tokens.read(tokens.issue(given, NOW), NOW);
      expect(read!.isLater).toBe(duel === "later" ? true : undefined);
    }
  });

  it("is accepted by another node with the same store, and by no other", async () => {
    const store = openStore();
    const token = (await open(store)).issue(ballot(), NOW);
    expect(await (await open(store)).read(token, NOW)).toBeDefined();
    expect(await (await open()).read(token, NOW)).toBeUndefined();
  });

  it("expires, and is accepted until then although its key is replaced in between", async () => {
    const store = openStore();
    const token = (await open(store)).issue(ballot(), NOW);
    const later = await open(store, NOW + LIFETIME - 1000);
    expect(await later.read(token, NOW + LIFETIME - 1000)).toBeDefined();
    expect(await later.read(token, NOW + LIFETIME + 1000)).toBeUndefined();
    const names = [0, 1].map((n) => `vote-token-${Math.floor(NOW / DAY_MS / 30) + n}`);
    const [first, second] = await Promise.all(names.map((name) => store.secret(name)));
    expect(Buffer.from(first!).equals(second!)).toBe(false);
  });

  it("has a length that does not depend on which models answered", async () => {
    const tokens = await open();
    const candidates = ["a", "model with a long name", "b", "ä"];
    const lengths = candidates.flatMap((first) =>
      candidates.map((second) => {
        const models = first === second ? [first, ""] : [first, second];
        return tokens.issue({ ...ballot(16, { candidates }), models }, NOW).length;
      }),
    );
    expect(new Set(lengths).size).toBe(1);
  });

  it("does not contain its content in readable form, and is different every time", async () => {
    const tokens = await open();
    const given = ballot(16, { owner: "key_1" });
    const texts = [1, 2].map(() => tokens.issue(given, NOW));
    expect(texts[0]).not.toBe(texts[1]);
    const bytes = Buffer.from(texts[0]!, "base64url").toString("latin1");
    for (const secret of [...MODELS, "auto", "key_1"]) expect(bytes).not.toContain(secret);
  });

  it("is invalid after any change", async () => {
    const tokens = await open();
    const token = tokens.issue(ballot(16), NOW);
    const bytes = Buffer.from(token, "base64url");
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const changed = Buffer.from(bytes);
          changed[at]! ^= by;
          expect(await tokens.read(changed.toString("base64url"), NOW)).toBeUndefined();
        },
      ),
      { seed: 1, numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await tokens.read(text, NOW)).toBeUndefined();
        expect(await tokens.read(token + text, NOW)).toEqual(
          text === "" ? expect.anything() : undefined,
        );
      }),
      { seed: 2 },
    );
  });

  it("refers to an embedding that is too large, which is stored first", async () => {
    const store = openStore();
    const tokens = await open(store);
    expect(tokens.storeLarge(ballot(1024), NOW)).toBeUndefined();
    const large = ballot(3072);
    expect(await tokens.storeLarge(large, Date.now())).toBe(true);
    const read = await tokens.read(tokens.issue(large, NOW), NOW);
    expect(read!.x).toBeUndefined();
    expect(await store.embedding(read!.id)).toEqual(large.x);
  });

  it("is not issued for an embedding that could not be stored", async () => {
    const store = openStore();
    const tokens = await open(store);
    store.saveEmbedding = () => Promise.reject(new Error("the disk is full"));
    expect(await tokens.storeLarge(ballot(3072), NOW)).toBe(false);
  });
});
