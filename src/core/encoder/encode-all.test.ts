import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type EncodeProgress, encodeAll } from "./encode-all.ts";
import type { OpenEncoder } from "./open-encoder.ts";

/** The vector of a text is (its length, 0.1); counts what it was asked. */
function counting(kind: OpenEncoder["kind"], identity = "one") {
  const asked: string[] = [];
  const encoder: OpenEncoder = {
    kind,
    name: kind,
    dimension: 2,
    identity,
    named: true,
    encode: async (texts) => {
      asked.push(...texts);
      return texts.map((text) => Float64Array.of(text.length, 0.1));
    },
    close: async () => {},
  };
  return { encoder, asked };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-vectors-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const TEXTS = Array.from({ length: 600 }, (_, i) => "x".repeat(i % 300));

it("keeps the order, in chunks, and says how far it is", async () => {
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

it("asks a slow encoder for each text once, now and the next time, with the same numbers", async () => {
  const cacheDir = newFolder();
  const { encoder, asked } = counting("transformer");
  const first = await encodeAll(encoder, TEXTS, { cacheDir });
  expect(asked.length).toBe(300);
  expect(await encodeAll(encoder, [...TEXTS, "y"], { cacheDir })).toEqual([
    ...first,
    Float64Array.of(1, Math.fround(0.1)),
  ]);
  expect(asked.length).toBe(301);
  // Other weights are another encoder's.
  const other = counting("transformer", "two");
  await encodeAll(other.encoder, TEXTS.slice(0, 5), { cacheDir });
  expect(other.asked.length).toBe(5);
  // What is faster than a disk is not kept.
  const fast = counting("hash");
  await encodeAll(fast.encoder, TEXTS, { cacheDir });
  expect(fast.asked.length).toBe(600);
});

it("goes on without a place to keep vectors", async () => {
  const { encoder } = counting("transformer");
  const nowhere = join(newFolder(), "\0");
  const vectors = await encodeAll(encoder, ["abc"], { cacheDir: nowhere });
  expect(vectors[0]![0]).toBe(3);
});

it("stops between two chunks", async () => {
  const { encoder, asked } = counting("hash");
  const stop = new AbortController();
  const onProgress = ({ done }: EncodeProgress) => {
    if (done > 0) stop.abort();
  };
  const running = encodeAll(encoder, TEXTS, { onProgress, signal: stop.signal });
  await expect(running).rejects.toThrow(/abort/i);
  expect(asked.length).toBe(512);
});
