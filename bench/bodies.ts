import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../src/gateway/dialects/chat/chat.ts";
import { readRequest } from "../src/gateway/dialects/dialect.ts";
import { BodyReader } from "../src/gateway/dialects/reader/reader.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { median } from "./median.ts";

const ROUNDS = 10;
const MEGABYTE = 2 ** 20;

/** The largest bodies that are admitted: text, an attached image, and as many values as possible. */
const LARGE: Readonly<Record<string, () => string>> = {
  "20 MB of text": () => JSON.stringify(chatOf("word ".repeat(4 * MEGABYTE - 100))),
  "20 MB of an image": () => {
    const url = `data:image/png;base64,${"A".repeat(20 * MEGABYTE - 1000)}`;
    return JSON.stringify(chatOf([{ type: "image_url", image_url: { url } }]));
  },
  "490,000 values in 10 MB": () => {
    const part = { type: "text", text: "x" };
    return JSON.stringify(chatOf(Array.from({ length: 160_000 }, () => part)));
  },
};

/**
 * Measures how long reading a body blocks the thread that serves requests: in that thread and with
 * the reader of the gateway, alternately. A small body must not take longer than before.
 */
export async function bodies(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const rounds = flags.rounds ?? ROUNDS;
  const reader = new BodyReader();
  const here = (body: Uint8Array) => chat.read(readRequest(chat.endpoint, body).members, {});
  const there = async (body: Uint8Array) => (await reader.read(chat, body, {})).conversation();
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  await there(Buffer.from(LARGE["20 MB of text"]!()));
  for (const [name, make] of Object.entries(LARGE)) {
    const text = make();
    const blocked = { before: [] as number[], now: [] as number[], idle: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const [first, second] = [Buffer.from(text), Buffer.from(text)];
      blocked.before.push(await longestBlock(async () => here(first)));
      blocked.now.push(await longestBlock(() => there(second)));
      blocked.idle.push(await longestBlock(() => sleep(200)));
    }
    const [before, now] = [median(blocked.before), median(blocked.now)];
    // On a busy machine the thread stands still without any work, too.
    figures[`${name}, blocked ms, no work`] = median(blocked.idle);
    figures[`${name}, blocked ms, one thread`] = before;
    figures[`${name}, blocked ms, reader`] = now;
    ratios[`${name}, blocked, reader / one thread`] = now / before;
  }
  const small = Buffer.from(JSON.stringify(chatOf("Why is the sky blue? ".repeat(50))));
  const times = { before: [] as number[], now: [] as number[] };
  for (let round = 0; round < 5 * rounds; round++) {
    times.before.push(await timed(async () => here(small)));
    times.now.push(await timed(() => there(small)));
  }
  figures["1 kB, microseconds, one thread"] = median(times.before);
  figures["1 kB, microseconds, reader"] = median(times.now);
  ratios["1 kB, time, reader / one thread"] = median(times.now) / median(times.before);
  await reader.close();
  return { ratios, figures };
}

function chatOf(content: unknown): object {
  return { model: "auto", messages: [{ role: "user", content }] };
}

/** Longest time in milliseconds for which the event loop stood still during the work. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.();
  let longest = 0;
  let last = performance.now();
  let isRunning = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(tick);
  };
  tick();
  await work();
  await sleep(1);
  isRunning = false;
  return longest;
}

/** Microseconds per call. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < 500; i++) await work();
  return (performance.now() - startedAt) * 2;
}
