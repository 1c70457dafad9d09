import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { newFolder } from "../../gateway/gateway.fixture.ts";
import { openSqlite } from "../../store/sqlite/open.ts";
import { keysCommand } from "./keys.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs `joust keys` and returns what it writes to standard output. */
async function keys(...args: string[]): Promise<string> {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  written.mockClear();
  await keysCommand().parseAsync(args, { from: "user" });
  return written.mock.calls.map(([text]) => text).join("");
}

it("creates a key with limits, and lists them", async () => {
  const data = newFolder();
  const limits = ["--models", "abacus-14b,summit-pro", "--routers", "auto", "--duels", "false"];
  const added = await keys("add", "web", "--json", ...limits, "--data", data);
  expect(JSON.parse(added)).toMatchObject({
    models: ["abacus-14b", "summit-pro"],
    routers: ["auto"],
  });
  expect(await keys("list", "--data", data)).toContain(
    "; duels false; models abacus-14b, summit-pro; routers auto\n",
  );
});

it("writes each change to the history, without the secret", async () => {
  const data = newFolder();
  const secret = (await keys("add", "web", "--data", data)).trim();
  await keys("budget", "web", "80", "--data", data);
  await keys("budget", "web", "80", "--data", data);
  await keys("concurrent", "web", "20", "--data", data);
  await keys("revoke", "web", "--data", data);
  const store = await openSqlite(join(data, "joust.db"));
  const records = (await store.audit({ limit: 10 })).toReversed();
  await store.close();
  expect(records.map(({ actor, target, action }) => [actor, target, action])).toEqual(
    ["key.add", "key.change", "key.change", "key.revoke"].map((action) => [
      "command line",
      "web",
      action,
    ]),
  );
  expect(records[1]).toMatchObject({
    before: { scopes: ["route", "vote"] },
    after: { budget: 80 },
  });
  expect(records[2]!.after).toMatchObject({ budget: 80, concurrent: 20 });
  const text = JSON.stringify(records);
  expect([text.includes(secret), text.includes("hash")]).toEqual([false, false]);
});

it("warns while no key has the scope admin, and says how to add one", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const data = newFolder();
  const add = async (name: string, ...more: string[]) => {
    written.mockClear();
    await keysCommand().parseAsync(["add", name, "--data", data, ...more], { from: "user" });
    return written.mock.calls.map(([text]) => text).join("");
  };
  const first = await add("web");
  expect(first).toContain("no key in the store has the scope admin");
  expect(first).toContain("npx joust keys add NAME --scopes admin,route,vote");
  expect(await add("json", "--json")).toContain("no key in the store has the scope admin");
  expect(await add("ann", "--scopes", "admin")).not.toContain("warning");
  expect(await add("shop")).not.toContain("warning");
});
