import { mkdir } from "node:fs/promises";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { type Context, Stopped, type Task } from "./job.ts";
import type { FolderStore } from "./store.ts";

export interface ContextOptions {
  /** Holds the results that jobs need. Undefined if no job of the plan needs a result of another. */
  readonly store?: FolderStore | undefined;
  /** Paths of data files by their SHA-256. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly places?: EncoderPlaces | undefined;
  readonly shared?: unknown;
  stopped(): boolean;
  onProgress?(share: number): void;
}

/** Makes the contexts of the tasks that one worker runs, one after another. */
export function contextsWith(options: ContextOptions): (task: Task) => Context {
  const { files = {}, shared, stopped, onProgress } = options;
  const memos = new Map<string, Promise<unknown>>();
  const given = <K extends "store" | "places">(name: K): NonNullable<ContextOptions[K]> => {
    const value = options[name];
    if (value !== undefined) return value;
    throw new Error(`the workers of this plan have no ${name}`);
  };
  const memo = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = memos.get(key) ?? make();
    // The value used last becomes the last entry; the first entry is dropped.
    memos.delete(key);
    memos.set(key, known);
    known.catch(() => memos.delete(key));
    if (memos.size > MOST_MEMOS) memos.delete(memos.keys().next().value!);
    return known as Promise<T>;
  };
  return ({ key, inputs }) => {
    let reported = 0;
    return {
      input: (id) => memo(`input ${inputs[id]}`, () => given("store").get(inputs[id]!)),
      path: (file) => files[file.sha256] ?? given("store").filePath(file),
      get places() {
        return given("places");
      },
      shared,
      async folder() {
        const folder = given("store").workFolder(key);
        await mkdir(folder, { recursive: true });
        return folder;
      },
      memo,
      check(share = 0) {
        if (stopped()) throw new Stopped();
        if (share - reported < REPORT_STEP) return;
        reported = share;
        onProgress?.(share);
      },
    };
  };
}

/** Data sets and vectors take at most about 50 MB each. */
const MOST_MEMOS = 6;
const REPORT_STEP = 0.01;
