/**
 * Glossary
 *
 * job      a piece of work as plain data: its kind, its spec, and the jobs whose results it takes
 * plan     the jobs of an undertaking, each once
 * key      a hash of all that decides a job's result: its spec, the results it takes, the code
 * result   a value (JSON) and, where there are many numbers, a matrix
 * store    results by key
 * crew     who does jobs: worker threads here, or processes on other machines
 */
import { createHash } from "node:crypto";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";

/** Hash of a job without code and inputs: by it other jobs speak of its result. */
export type JobId = string;

export interface Job<Spec = unknown> {
  readonly kind: string;
  readonly spec: Spec;
  readonly needs: readonly JobId[];
}

export interface Result {
  readonly value: unknown;
  readonly matrix?: Matrix | undefined;
}

/** Rows of `columns` numbers, one after another. */
export interface Matrix {
  readonly columns: number;
  readonly data: Float32Array;
}

/** A file by its content; the name matters to readers that go by it. */
export interface FileRef {
  readonly name: string;
  readonly sha256: string;
}

/** One way to work. Equal specs, inputs and code give equal results, bit for bit, whoever does it. */
export interface Kind {
  /** The module whose imports are the code that decides the result. */
  readonly module: URL;
  perform(spec: unknown, context: Context): Promise<Result>;
}

/** What a worker has at hand for a job. */
export interface Context {
  /** The result of a job that this one needs. */
  input(id: JobId): Promise<Result>;
  path(file: FileRef): string;
  readonly places: EncoderPlaces;
  /** A folder of the job's own, which outlives a process that was stopped. */
  folder(): Promise<string>;
  /** Made once and kept for the next jobs of this worker, which often need the same. */
  memo<T>(key: string, make: () => Promise<T>): Promise<T>;
  /** Throws where the job is to stop. To be called now and then. */
  check(): void;
}

/** A job as a crew gets it: `inputs` are the keys of the results it needs. */
export interface Task {
  readonly key: string;
  readonly kind: string;
  readonly spec: unknown;
  readonly inputs: Readonly<Record<JobId, string>>;
}

/** Does tasks, some at a time, and puts their results into the store. */
export interface Crew {
  /** How many tasks it does at once. */
  readonly size: number;
  /** Resolves when the result is in the store; rejects with Stopped where it was told to stop. */
  perform(task: Task): Promise<void>;
  /** What is under way stops as soon as it can. */
  stop(): void;
  close(): Promise<void>;
}

/** The end of a job that was told to stop: no failure, and nothing is lost. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  constructor() {
    super("stopped before it was done");
  }
}

export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** JSON with the keys of every record in order, so that equal values have equal texts. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, own: unknown) => {
    if (typeof own !== "object" || own === null || Array.isArray(own)) return own;
    return Object.fromEntries(Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
