import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withLock } from "./folder-lock.ts";

function newLock(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "model.lock");
}

it("runs one holder at a time, and every holder eventually", async () => {
  const file = newLock();
  let working = 0;
  const done: number[] = [];
  const work = (i: number) => async () => {
    expect(++working).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    working--;
    done.push(i);
  };
  const several = [0, 1, 2, 3, 4];
  await Promise.all(several.map((i) => withLock(file, work(i), { poll: 1 })));
  expect(done.toSorted()).toEqual(several);
  expect(existsSync(file)).toBe(false);
});

it("is released if the work fails", async () => {
  const file = newLock();
  const failing = () => Promise.reject(new Error("no luck"));
  await expect(withLock(file, failing)).rejects.toThrow("no luck");
  expect(existsSync(file)).toBe(false);
});

const LONG_AGO = new Date(Date.now() - 120_000);
const NOBODY = 2 ** 30; // no process has such a high id

it.each([
  ["is taken over if its process has ended", { host: hostname(), pid: NOBODY }, new Date(), true],
  [
    "is taken over if it is of another machine and old",
    { host: "elsewhere", pid: 1 },
    LONG_AGO,
    true,
  ],
  [
    "is waited for if it is of another machine and recent",
    { host: "elsewhere", pid: NOBODY },
    new Date(),
    false,
  ],
  ["is waited for if its process runs", { host: hostname(), pid: process.pid }, new Date(), false],
])("a lock %s", async (_, holder, touched, abandoned) => {
  const file = newLock();
  writeFileSync(file, JSON.stringify(holder));
  utimesSync(file, touched, touched);
  let waits = 0;
  const onWait = () => {
    waits++;
    rmSync(file); // as its holder would
  };
  expect(await withLock(file, async () => "worked", { onWait, poll: 1 })).toBe("worked");
  expect(waits).toBe(abandoned ? 0 : 1);
});

it("waiting can be aborted, and the holder keeps the lock", async () => {
  const file = newLock();
  writeFileSync(file, JSON.stringify({ host: hostname(), pid: process.pid }));
  const stop = new AbortController();
  const waiting = withLock(file, async () => "worked", {
    signal: stop.signal,
    onWait: () => stop.abort(),
  });
  await expect(waiting).rejects.toThrow(/abort/);
  expect(existsSync(file)).toBe(true);
});
