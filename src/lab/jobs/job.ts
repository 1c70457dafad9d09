/**
 * Words of the job engine
 *
 * job      a piece of work as plain data: its kind, its spec, and the jobs whose results it needs
 * plan     all jobs of one command, each of them once
 * key      hash of everything that decides a job's result: its spec, the results it needs, its code
 * result   a value that JSON can hold and, for many numbers, a matrix
 * store    results by key
 * workers  run jobs: threads of this process, or `joust work` processes on several machines
 */
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";

/** Hash of a job without its code and inputs. Other jobs name the result that they need by it. */
export type JobId = string;

export interface Job {
  readonly kind: string;
  readonly spec: unknown;
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

/** A file identified by its content. The name is for readers that choose a format by the extension. */
export interface FileRef {
  readonly name: string;
  readonly sha256: string;
}

/** A kind of job. Equal specs, inputs and code give equal results, bit for bit, on every worker. */
export interface Kind {
  /** Modules whose code, together with all they import, decides the result. */
  code(spec: unknown): readonly URL[];
  run(spec: unknown, context: Context): Promise<Result>;
}

export type Kinds = Readonly<Record<string, Kind>>;

/** Everything that a worker provides to a running job. */
export interface Context {
  /** The result of a job that this one needs. */
  input(id: JobId): Promise<Result>;
  path(file: FileRef): string;
  readonly places: EncoderPlaces;
  /** Data in memory that all threads share; see `ThreadsOptions.shared`. */
  readonly shared: unknown;
  /** A folder for the job's unfinished work, which survives the process. */
  folder(): Promise<string>;
  /** Makes a value once and keeps it, because later jobs of this worker often need the same value. */
  memo<T>(key: string, make: () => Promise<T>): Promise<T>;
  /** Reports which share of the job is done. Throws Stopped if the job must stop, so call it often. */
  check(share?: number): void;
}

/** A job as a worker receives it. `inputs` holds the keys of the results that it needs. */
export interface Task {
  readonly key: string;
  readonly kind: string;
  readonly spec: unknown;
  readonly inputs: Readonly<Record<JobId, string>>;
}

/** Runs several tasks at a time. */
export interface Workers {
  /** Number of tasks that run at once. */
  readonly size: number;
  /** Rejects with Stopped after `stop`. */
  run(task: Task, onProgress?: (share: number) => void): Promise<Result>;
  /** Makes running tasks stop as soon as they can. */
  stop(): void;
  close(): Promise<void>;
}

/** A job was told to stop. This is no failure: the job is done by the next run of the plan. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  constructor() {
    super("stopped before it was done");
  }
}

/** Every FileRef in a spec, at any depth. */
export function filesIn(value: unknown): FileRef[] {
  if (typeof value !== "object" || value === null) return [];
  if ("sha256" in value && "name" in value) return [value as FileRef];
  return Object.values(value).flatMap(filesIn);
}
