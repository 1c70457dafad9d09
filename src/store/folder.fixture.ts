import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Memory where there is such a folder: tests of logic need not wait for a disk. */
const MEMORY = "/dev/shm";

/** Names of new files in a folder that goes when the tests are over. */
export function newFiles(): () => string {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "joust-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let count = 0;
  return () => join(folder, `${count++}.db`);
}
