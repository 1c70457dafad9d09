import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newFiles } from "../../store/folder.fixture.ts";
import type { KeyChanges } from "../../store/key.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { StandingClock } from "../clock/clock.fixture.ts";
import { Access } from "./access.ts";
import { allows, hashOf, newSecret, secretOf } from "./keys.ts";
import { RateLimit } from "./rate-limit.ts";

describe("an API key", () => {
  it("is random, and its hash does not contain it", () => {
    const secret = newSecret();
    expect(secret).toMatch(/^jst_[\w-]{43}$/);
    expect(newSecret()).not.toBe(secret);
    expect(hashOf(secret)).toMatch(/^[0-9a-f]{64}$/);
  });

  it("is read from the headers that clients use", () => {
    expect(secretOf({ authorization: "Bearer abc" })).toBe("abc");
    expect(secretOf({ authorization: "bearer  abc" })).toBe("abc");
    expect(secretOf({ authorization: "Basic abc" })).toBeUndefined();
    expect(secretOf({ "x-api-key": "abc" })).toBe("abc");
    expect(secretOf({ authorization: "Basic abc", "x-api-key": "def" })).toBe("def");
    expect(secretOf({ authorization: "Bearer abc", "x-api-key": "def" })).toBe("abc");
    expect(secretOf({})).toBeUndefined();
  });

  it("allows what its scopes name, and admin allows everything", () => {
    expect(allows({ scopes: ["route"] }, "route")).toBe(true);
    expect(allows({ scopes: ["route"] }, "vote")).toBe(false);
    expect(allows({ scopes: ["admin"] }, "vote")).toBe(true);
  });
});

describe("keys that another node changes", () => {
  const newFile = newFiles();
  const secret = newSecret();
  const key = { id: "k", name: "ann", hash: hashOf(secret), scopes: ["route"], createdAt: 0 };
  const config = { keys: {}, server: {} } as unknown as Parameters<typeof Access.open>[0];
  const bearer = { authorization: `Bearer ${secret}` };

  it("are known after `read`, even if an older read is still running", async () => {
    const store = new SqliteStore(newFile(), () => 0);
    await store.addKey(key);
    const access = await Access.open(config, store, new StandingClock());
    const old = await store.keys();
    const { promise, resolve } = Promise.withResolvers<typeof old>();
    vi.spyOn(store, "keys").mockReturnValueOnce(promise);
    const first = access.read();
    await store.changeKey(key.id, { revokedAt: 1 });
    const second = access.read();
    resolve(old);
    await Promise.all([first, second]);
    expect(() => access.admit(bearer, "route", "POST")).toThrow("the API key was revoked");
    await store.close();
  });

  it("are read before the first requests after a pause", async () => {
    const store = new SqliteStore(newFile(), () => 0);
    const clock = new StandingClock();
    const access = await Access.open(config, store, clock);
    expect(await access.admit({}, "route", "POST")).toMatchObject({ isAdmin: true });

    await store.addKey(key);
    clock.pass(60_000);
    await expect(access.admit({}, "route", "POST")).rejects.toThrow("the request has no API key");
    expect(await access.admit(bearer, "route", "POST")).toMatchObject({ owner: "k" });

    await store.changeKey(key.id, { revokedAt: 1 });
    clock.pass(60_000);
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => access.admit(bearer, "route", "POST")),
    );
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await store.close();
  });

  it("admit their sessions at once, also those that another process has issued or ended", async () => {
    const store = new SqliteStore(newFile(), () => 0);
    const withSessions = { keys: {}, server: { session_hours: 1 } } as typeof config;
    await store.addKey({ ...key, id: "other", name: "bob", hash: "h" });
    const clock = new StandingClock();
    const [one, two] = await Promise.all([
      Access.open(withSessions, store, clock),
      Access.open(withSessions, store, clock),
    ]);
    await store.addKey(key);
    const cookies = async () => {
      const { token, csrf } = await one.signIn(secret);
      return { cookie: `joust_session=${token}`, "x-joust-csrf": csrf };
    };
    const first = await cookies();
    clock.pass(1000);
    expect(await two.admit(first, "route", "GET")).toMatchObject({ owner: "k" });
    expect(await two.signedIn(first)).toMatchObject({ name: "ann" });
    await one.signOut(first);
    clock.pass(60_000);
    expect(await two.signedIn(first)).toBeUndefined();
    await store.close();
  });

  it("stay as they were while the store does not respond, and only the first request waits for it", async () => {
    const store = new SqliteStore(newFile(), () => 0);
    await store.addKey(key);
    const clock = new StandingClock();
    const access = await Access.open(config, store, clock);
    store.keys = () => new Promise(() => {});
    clock.pass(60_000);
    expect(await access.admit(bearer, "route", "POST")).toMatchObject({ owner: "k" });
    clock.pass(3000);
    const settled = Promise.race([access.admit(bearer, "route", "POST"), setImmediate("late")]);
    expect(await settled).toMatchObject({ owner: "k" });
    await store.close();
  });
});

describe("the caller of a long response", () => {
  const newFile = newFiles();

  async function opened(keys: object) {
    const store = new SqliteStore(newFile(), () => 0);
    onTestFinished(() => store.close());
    const server = { session_hours: 1, rate: 1 };
    const config = { keys, server } as unknown as Parameters<typeof Access.open>[0];
    const clock = new StandingClock();
    const access = await Access.open(config, store, clock);
    onTestFinished(() => access.close());
    return { store, clock, access };
  }

  it("is admitted as long as its key is valid and has the same rights, whatever its rate", async () => {
    const { store, access } = await opened({});
    const secret = newSecret();
    const scopes = ["route", "admin"];
    await store.addKey({ id: "k", name: "ann", hash: hashOf(secret), scopes, createdAt: 0 });
    await access.read();
    const headers = { authorization: `Bearer ${secret}` };
    const caller = await access.admit(headers, "route", "GET");
    const admits = () => access.stillAdmits(headers, "route", caller);
    for (let i = 0; i < 5; i++) expect(await admits()).toBe(true);
    const admitsWith = async (change: KeyChanges) => {
      await store.changeKey("k", change);
      await access.read();
      return admits();
    };
    expect(await admitsWith({ scopes: ["route"] })).toBe(false);
    expect(await admitsWith({ scopes })).toBe(true);
    expect(await admitsWith({ scopes: ["vote"] })).toBe(false);
    expect(await admitsWith({ scopes })).toBe(true);
    expect(await admitsWith({ models: ["a"] })).toBe(false);
    expect(await admitsWith({ models: null, routers: ["r"] })).toBe(false);
    expect(await admitsWith({ routers: null })).toBe(true);
    expect(await admitsWith({ revokedAt: 1 })).toBe(false);
  });

  it("is admitted as long as its session lasts", async () => {
    const { clock, access } = await opened({ ann: { key: "ann-ann", scopes: ["route"] } });
    const signIn = async () => {
      const { token, csrf } = await access.signIn("ann-ann");
      return { cookie: `joust_session=${token}`, "x-joust-csrf": csrf };
    };
    const [one, two] = [await signIn(), await signIn()];
    const caller = await access.admit(one, "route", "GET");
    const admits = (headers: object) => access.stillAdmits({ ...headers }, "route", caller);
    expect([await admits(one), await admits(two)]).toEqual([true, true]);
    await access.signOut(one);
    expect([await admits(one), await admits(two)]).toEqual([false, true]);
    clock.pass(3_600_001);
    expect(await admits(two)).toBe(false);
  });

  it("without a key is admitted until there is one", async () => {
    const { store, access } = await opened({});
    const caller = await access.admit({}, "route", "GET");
    expect(await access.stillAdmits({}, "route", caller)).toBe(true);
    await store.addKey({ id: "k", name: "ann", hash: "h", scopes: ["route"], createdAt: 0 });
    await access.read();
    expect(await access.stillAdmits({}, "route", caller)).toBe(false);
  });
});

describe("a rate limit", () => {
  it("never admits more than its burst and what was refilled", () => {
    const waits = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 200 });
    fc.assert(
      fc.property(waits, (gaps) => {
        const limit = new RateLimit(60, 5);
        let now = 0;
        let passed = 0;
        for (const gap of gaps) {
          now += gap;
          if (limit.take("a", now) === 0) passed++;
        }
        expect(passed).toBeLessThanOrEqual(5 + now / 1000);
      }),
      { seed: 1 },
    );
  });

  it.each([0.5, 3, 10, 60, 600])("of %d per minute admits that many requests", (perMinute) => {
    const limit = new RateLimit(perMinute);
    const atOnce = Array.from({ length: 1000 }, () => limit.take("a", 0));
    const passed = atOnce.filter((wait) => wait === 0).length;
    expect(passed).toBe({ 0.5: 1, 3: 3, 10: 10, 60: 10, 600: 100 }[perMinute]);
  });

  it("says when to try again, and then admits one request", () => {
    const limit = new RateLimit(60, 1);
    expect(limit.take("a", 0)).toBe(0);
    expect(limit.take("a", 250)).toBe(0.75);
    expect(limit.take("b", 250)).toBe(0);
    expect(limit.take("a", 1000)).toBe(0);
  });

  it("removes full buckets", () => {
    const limit = new RateLimit(60, 1);
    for (let i = 0; i < 1000; i++) limit.take(`client ${i}`, i);
    expect(limit.take("late", 10_000)).toBe(0);
    expect(limit.size).toBe(1);
  });
});
