import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll } from "vitest";

/** Writes a file into a folder that goes when the tests are over; packs it if its name ends in .gz. */
export function temporaryFolder(): (name: string, content: string | Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), "joust-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (name, content) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      name.endsWith(".gz") && typeof content === "string" ? gzipSync(content) : content,
    );
    return path;
  };
}
