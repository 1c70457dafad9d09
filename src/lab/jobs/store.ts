import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../core/input/folder-lock.ts";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { codeOf } from "../../core/input/system-error.ts";
import { sha256 } from "./hash.ts";
import type { FileRef, Matrix, Result } from "./job.ts";

/** Results by key. */
export interface Store {
  /** Digest of a result; undefined if the result is missing or damaged. */
  find(key: string): Promise<string | undefined>;
  get(key: string): Promise<Result>;
  put(key: string, result: Result): Promise<void>;
  /** Runs `work` while no other process that shares the store works on the same key. */
  exclusively<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * A folder with KEY.json and, for a matrix, KEY.f32 beside it. Complete files are
 * moved into place, the matrix first, so what a crash or a full disk leaves behind
 * counts as missing. Several processes may share the folder. It may be deleted at
 * any time; the results are then computed again.
 */
export class FolderStore implements Store {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Creates the folder; throws an InputError if nothing can be written there. */
  async open(): Promise<void> {
    const probe = join(this.folder, `.${process.pid}.tmp`);
    try {
      await mkdir(this.folder, { recursive: true });
      await writeFile(probe, "");
      await rm(probe);
    } catch (error) {
      throw new InputError(
        { file: this.folder },
        `cannot be written (${codeOf(error) || error})`,
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
    const bytes = new Uint8Array(await readFile(this.#path(key, "f32"))); // a copy is aligned
    if (sha256(bytes) !== record.matrix.sha256) throw new Error(`${key}.f32 was changed`);
    const { columns } = record.matrix;
    return { value: record.value, matrix: { columns, data: new Float32Array(bytes.buffer) } };
  }

  async put(key: string, { value, matrix }: Result): Promise<void> {
    const described = matrix && recordOf(matrix);
    if (matrix) await replaceFile(this.#path(key, "f32"), bytesOf(matrix.data));
    const digest = digestOfRecord(value, described);
    const text = `${JSON.stringify({ digest, matrix: described, value })}\n`;
    await replaceFile(this.#path(key, "json"), text);
    await rm(this.workFolder(key), { recursive: true, force: true });
  }

  exclusively<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return withLock(`${this.workFolder(key)}.lock`, work, { signal });
  }

  /** Folder for the unfinished work of a job. `put` removes it. */
  workFolder(key: string): string {
    return join(this.folder, "work", key);
  }

  /** Path of a file that was copied into the store from another machine. */
  filePath({ sha256, name }: FileRef): string {
    return join(this.folder, "files", sha256, name);
  }

  /** Undefined if the record is missing or damaged. */
  async #record(key: string): Promise<Record | undefined> {
    try {
      const record = JSON.parse(await readFile(this.#path(key, "json"), "utf8")) as Record;
      return record.digest === digestOfRecord(record.value, record.matrix) ? record : undefined;
    } catch {
      return undefined;
    }
  }

  #path(key: string, extension: string): string {
    return join(this.folder, key.slice(0, 2), `${key}.${extension}`);
  }
}

interface Record {
  /** Digest of the other two fields. */
  readonly digest: string;
  readonly matrix?: MatrixRecord | undefined;
  readonly value: unknown;
}

interface MatrixRecord {
  readonly columns: number;
  readonly sha256: string;
}

/** Digest of a result. Equal results have equal digests in every store. */
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
