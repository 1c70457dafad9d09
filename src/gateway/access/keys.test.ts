import { expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { newFiles } from "../../store/folder.fixture.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { addKey, changeKey, revokeKey } from "./keys.ts";

const newFile = newFiles();

function newStore() {
  const store = new SqliteStore(newFile(), () => 0);
  onTestFinished(() => store.close());
  return store;
}

it("a key that is revoked and changed at the same time is revoked", async () => {
  const store = newStore();
  await addKey(store, { name: "web", scopes: ["route"] }, 0);
  const [revoked, changed] = await Promise.allSettled([
    revokeKey(store, "web", 5),
    changeKey(store, "web", { rate: 60 }),
  ]);
  expect(revoked).toMatchObject({ status: "fulfilled", value: { revokedAt: 5 } });
  expect(changed).toMatchObject({
    status: "rejected",
    reason: { message: expect.stringContaining("does not exist or is revoked") },
  });
  expect(await store.keys()).toMatchObject([{ name: "web", revokedAt: 5 }]);
});

it("of two keys of one name that are added at the same time, one is refused", async () => {
  const store = newStore();
  const add = () => addKey(store, { name: "web", scopes: ["route"] }, 0);
  const added = await Promise.allSettled([add(), add()]);
  expect(added.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await store.keys()).toHaveLength(1);
  await expect(add()).rejects.toThrow(errorText(/key web.*already exists; hint: choose another/));
});

it("a change to the values that a key has already changes nothing", async () => {
  const store = newStore();
  await addKey(store, { name: "web", scopes: ["route"], rate: 60 }, 0);
  const { before, after } = await changeKey(store, "web", { rate: 60, budget: null });
  expect(after).toBe(before);
});
