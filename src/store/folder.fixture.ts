import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A file system in memory, used if it exists: these tests do not need a disk. */
const MEMORY = "/dev/shm";

/** Returns a function that names new files in a temporary folder, which is deleted after the tests. */
export function newFiles(): () => string {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "joust-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let count = 0;
  return () => join(folder, `${count++}.db`);
}
