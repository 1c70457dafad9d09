import { afterEach, expect, it, vi } from "vitest";
import { newFolder } from "../../gateway/gateway.fixture.ts";
import { keysCommand } from "./keys.ts";

afterEach(() => {
  vi.restoreAllMocks();
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
