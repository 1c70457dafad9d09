import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { InputError } from "../../core/input/input-error.ts";
import { type Matrix, type Result, sha256 } from "./job.ts";

/** Results by key, for all who work on a plan. */
export interface Store {
  /** The digest of a result that is there, whole. */
  find(key: string): Promise<string | undefined>;
  get(key: string): Promise<Result>;
  put(key: string, result: Result): Promise<void>;
}

/**
 * A folder: KEY.json and, beside it, KEY.f32 with the matrix. Files are moved
 * into place when they are whole, the matrix first; what a crash or a full disk
 * has left otherwise is as good as not there. Any number of processes may share
 * it, and all of it can be deleted at any time: it is made again.
 */
export class FolderStore implements Store {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder; an InputError where nothing can be kept there. */
  async open(): Promise<void> {
    const probe = join(this.folder, `.${process.pid}.tmp`);
    try {
      await mkdir(this.folder, { recursive: true });
      await writeFile(probe, "");
      await rm(probe);
    } catch (error) {
      const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
      throw new InputError(
        { file: this.folder },
        `cannot be written (${reason})`,
        "name a folder that you may write to with --cache",
      );
    }
  }

  async find(key: string): Promise<string | undefined> {
    const record = await this.#record(key);
    if (!record?.matrix) return record?.digest;
    const bytes = await readFile(this.#path(key, "f32")).catch(() => undefined);
    return bytes && sha256(bytes) === record.matrix.sha256 ? record.digest : undefined;
  }

  async get(key: string): Promise<Result> {
    const record = await this.#record(key);
    if (!record) throw new Error(`no result ${key} in ${this.folder}`);
    if (!record.matrix) return { value: record.value };
    const bytes = new Uint8Array(await readFile(this.#path(key, "f32"))); // a copy begins aligned
    if (sha256(bytes) !== record.matrix.sha256) throw new Error(`${key}.f32 was changed`);
    const { columns } = record.matrix;
    return { value: record.value, matrix: { columns, data: new Float32Array(bytes.buffer) } };
  }

  async put(key: string, { value, matrix }: Result): Promise<void> {
    const described = matrix && recordOf(matrix);
    if (matrix) await this.#write(key, "f32", bytesOf(matrix.data));
    const digest = digestOfRecord(value, described);
    await this.#write(key, "json", `${JSON.stringify({ digest, matrix: described, value })}\n`);
  }

  /** Undefined where there is none, or it is damaged. */
  async #record(key: string): Promise<Record | undefined> {
    const text = await readFile(this.#path(key, "json"), "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      const record = JSON.parse(text) as Record;
      return record.digest === digestOfRecord(record.value, record.matrix) ? record : undefined;
    } catch {
      return undefined;
    }
  }

  async #write(key: string, extension: string, content: string | Uint8Array): Promise<void> {
    const path = this.#path(key, extension);
    const draft = `${path}.${process.pid}.${threadId}.tmp`;
    await mkdir(dirname(path), { recursive: true });
    try {
      await writeFile(draft, content);
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      throw error;
    }
  }

  #path(key: string, extension: string): string {
    return join(this.folder, key.slice(0, 2), `${key}.${extension}`);
  }
}

interface Record {
  /** Of the rest. */
  readonly digest: string;
  readonly matrix?: MatrixRecord | undefined;
  readonly value: unknown;
}

interface MatrixRecord {
  readonly columns: number;
  readonly sha256: string;
}

/** The same for equal results, wherever they are kept. */
export function digestOf({ value, matrix }: Result): string {
  return digestOfRecord(value, matrix && recordOf(matrix));
}

function recordOf({ columns, data }: Matrix): MatrixRecord {
  return { columns, sha256: sha256(bytesOf(data)) };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function digestOfRecord(value: unknown, matrix: MatrixRecord | undefined): string {
  return sha256(JSON.stringify({ matrix, value }));
}
