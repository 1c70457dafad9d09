import { expect, it } from "vitest";
import type { Store } from "../../store/store.ts";
import { watchedStore, withProgress } from "./progress.ts";

it("draws a line on a terminal, not too often, and erases it at the end", async () => {
  const written: string[] = [];
  const terminal = { isTTY: true, write: (text: string) => written.push(text) };
  let now = 0;
  const result = await withProgress(
    async (show) => {
      show("a");
      now = 50;
      show("b");
      now = 150;
      show("c");
      return 7;
    },
    terminal,
    () => now,
  );
  expect(result).toBe(7);
  expect(written.map((text) => text.replace("\r\x1b[2K", ""))).toEqual(["a", "c", ""]);
  await withProgress(async (show) => show("a"), { write: (text) => written.push(text) });
  expect(written).toHaveLength(3);
});

it("shows how far a log was read, and reads the same", async () => {
  const shown: string[] = [];
  const store = {
    shared: true,
    head: async () => 200,
    logEvents: async (_: string, after: number) => (after === 0 ? [{ position: 100 }] : []),
    routed: async () => [],
  } as unknown as Store;
  const watched = watchedStore(store, (text) => shown.push(text));
  expect(await watched.logEvents("auto", 0, 100)).toEqual([{ position: 100 }]);
  expect(await watched.logEvents("auto", 100, 100)).toEqual([]);
  await watched.routed({ router: "auto", since: Date.UTC(2026, 10, 16), limit: 1 });
  expect(await watched.head("auto")).toBe(200);
  expect(watched.shared).toBe(true);
  expect(shown).toEqual([
    "votes of auto: position 0 of 200",
    "votes of auto: position 100 of 200",
    "decisions of auto: 2026-11-16T00:00",
  ]);
});
