import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type EncodeProgress, encodeAll } from "./encode-all.ts";
import type { OpenEncoder } from "./open-encoder.ts";

/** An encoder whose embedding of a text is (its length, 0.1). It records the texts. */
function counting(kind: OpenEncoder["kind"], identity = "one") {
  const encoded: string[] = [];
  const encoder: OpenEncoder = {
    kind,
    name: kind,
    dimension: 2,
    identity,
    named: true,
    encode: async (texts) => {
      encoded.push(...texts);
      return texts.map((text) => Float64Array.of(text.length, 0.1));
    },
    close: async () => {},
  };
  return { encoder, encoded };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-vectors-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const TEXTS = Array.from({ length: 600 }, (_, i) => "x".repeat(i % 300));

it("keeps the order, works in chunks, and reports progress", async () => {
  const { encoder } = counting("hash");
  const seen: EncodeProgress[] = [];
  const onProgress = (progress: EncodeProgress) => void seen.push(progress);
  const vectors = await encodeAll(encoder, TEXTS, { onProgress });
  expect(vectors.map(([length]) => length)).toEqual(TEXTS.map((text) => text.length));
  expect(seen.map(({ done, total }) => [done, total])).toEqual([
    [0, 600],
    [256, 600],
    [512, 600],
  ]);
  expect(seen[0]!.millisecondsLeft).toBeUndefined();
  expect(seen[2]!.millisecondsLeft).toBeGreaterThanOrEqual(0);
});

it("encodes each text once with a slow encoder, and reads the same numbers from the cache", async () => {
  const cacheDir = newFolder();
  const { encoder, encoded } = counting("transformer");
  const first = await encodeAll(encoder, TEXTS, { cacheDir });
  expect(encoded.length).toBe(300);
  expect(await encodeAll(encoder, [...TEXTS, "y"], { cacheDir })).toEqual([
    ...first,
    Float64Array.of(1, Math.fround(0.1)),
  ]);
  expect(encoded.length).toBe(301);
  // Another identity has its own cache entries.
  const other = counting("transformer", "two");
  await encodeAll(other.encoder, TEXTS.slice(0, 5), { cacheDir });
  expect(other.encoded.length).toBe(5);
  // Encoders that are faster than a disk are not cached.
  const fast = counting("hash");
  await encodeAll(fast.encoder, TEXTS, { cacheDir });
  expect(fast.encoded.length).toBe(600);
});

it("works even if the cache cannot be written", async () => {
  const { encoder } = counting("transformer");
  const nowhere = join(newFolder(), "\0");
  const vectors = await encodeAll(encoder, ["abc"], { cacheDir: nowhere });
  expect(vectors[0]![0]).toBe(3);
});

it("can be aborted between two chunks", async () => {
  const { encoder, encoded } = counting("hash");
  const stop = new AbortController();
  const onProgress = ({ done }: EncodeProgress) => {
    if (done > 0) stop.abort();
  };
  const running = encodeAll(encoder, TEXTS, { onProgress, signal: stop.signal });
  await expect(running).rejects.toThrow(/abort/i);
  expect(encoded.length).toBe(512);
});
