import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe } from "vitest";

const shared = process.env.JOUST_SHARED ?? resolve(import.meta.dirname, "../../../shared");
const found = existsSync(join(shared, "fixtures")) && existsSync(join(shared, "models"));

/** A file of the golden outputs, which PyTorch has made. */
export function golden(name: string): string {
  return join(shared, "fixtures", name);
}

/** The folder of a real model. */
export function realModel(name: string): string {
  return join(shared, "models", name);
}

export function goldenJson<T>(name: string): T {
  return JSON.parse(readFileSync(golden(name), "utf8")) as T;
}

/** Little-endian float32. */
export function goldenFloats(name: string): Float32Array {
  const bytes = readFileSync(golden(name));
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

export function goldenLines<T>(name: string): T[] {
  const lines = readFileSync(golden(name), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

/** Tests that need the golden outputs. Skipped where there are none, but not where they were promised. */
export function describeWithGolden(title: string, tests: () => void): void {
  if (!found && process.env.JOUST_SHARED !== undefined) {
    throw new Error(
      `JOUST_SHARED is ${shared}, without fixtures and models; help: correct or unset it`,
    );
  }
  describe.skipIf(!found)(`${title} (needs JOUST_SHARED, or ../shared)`, tests);
}
