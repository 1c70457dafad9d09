/** The project's own data for tests of jobs, and contexts without workers. */
import { resolve } from "node:path";
import { hashEncoder } from "../../../core/encoder/hash.ts";
import { openEncoder } from "../../../core/encoder/open-encoder.ts";
import { checksum } from "../../../core/input/checksum.ts";
import type { Context, FileRef, JobId, Result } from "../../jobs/job.ts";
import { PLACES } from "../../jobs/local-workers.fixture.ts";
import { data } from "./data.ts";
import type { DataSpec } from "./specs.ts";

const DATA = resolve(import.meta.dirname, "../../../../data");
const paths = new Map<string, string>();

async function ref(name: string): Promise<FileRef> {
  const path = resolve(DATA, name);
  const sha256 = await checksum([path]);
  paths.set(sha256, path);
  return { name, sha256 };
}

export const QUERIES = await ref("queries.jsonl");
export const EXEMPLARS = await ref("free-form/exemplars.jsonl");
const SCORES = await ref("scores/routerbench.csv");
export const OWN: DataSpec = { files: [QUERIES], scores: SCORES, exclude: ["gpt-4"] };
export const HASH = { name: hashEncoder.name, identity: (await openEncoder("hash")).identity };

/** A context in which specs name the given results by these ids. */
export function contextOf(inputs: Readonly<Record<JobId, Result>> = {}): Context {
  const memos = new Map<string, Promise<unknown>>();
  return {
    input: async (id) => inputs[id]!,
    path: ({ sha256 }) => paths.get(sha256)!,
    places: PLACES,
    shared: undefined,
    folder: () => Promise.reject(new Error("no folder in this test")),
    memo<T>(key: string, make: () => Promise<T>) {
      if (!memos.has(key)) memos.set(key, make());
      return memos.get(key) as Promise<T>;
    },
    check() {},
  };
}

/** A context in which specs name these data sets, and other results, by their ids. */
export async function contextWith(
  specs: Readonly<Record<JobId, DataSpec>>,
  inputs: Readonly<Record<JobId, Result>> = {},
): Promise<Context> {
  const loaded: Record<JobId, Result> = { ...inputs };
  for (const [id, spec] of Object.entries(specs)) loaded[id] = await data(spec, contextOf(inputs));
  return contextOf(loaded);
}
