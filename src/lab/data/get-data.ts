import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isTransient, retryAfter, TransientFailure } from "../../core/encoder/common/retry.ts";
import {
  downloadFile,
  type FileSource,
  hasContent,
} from "../../core/encoder/download/download-file.ts";
import type { Client } from "../../core/encoder/download/request.ts";
import { type LockOptions, withLock } from "../../core/input/folder-lock.ts";
import { InputError } from "../../core/input/input-error.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { writeError } from "../../core/input/system-error.ts";
import { DATA_SOURCES, type DataName, type DataSource, type PublicFile } from "./sources.ts";
import { UNPACKERS } from "./unpack.ts";

export interface GetOptions extends Client, Pick<LockOptions, "onWait"> {
  /** Folder of data sets. */
  readonly out: string;
  /** Server with the same paths as the public one. */
  readonly base?: string | undefined;
  /** Replace files that have other content. */
  readonly overwrite?: boolean | undefined;
  readonly onProgress?: ((progress: GetProgress) => void) | undefined;
  /** Replaces the pinned files in tests. */
  readonly source?: DataSource | undefined;
}

/** Progress in bytes within one file. `total` is 0 if the size is not known. */
export interface GetProgress {
  readonly file: string;
  readonly done: number;
  readonly total: number;
}

/** A file of the data set on this machine. */
export interface GotFile {
  readonly path: string;
  /** Address that it was downloaded from; undefined for a file made from downloaded ones. */
  readonly url?: string;
  readonly sha256?: string;
  /** False if the file was there already. */
  readonly changed: boolean;
}

/**
 * Downloads the files of a public data set and makes the files that the other commands read.
 * Each file appears under its name only when its SHA-256 is the pinned one. A file with
 * other content is never replaced without `overwrite`.
 */
export async function getData(name: DataName, options: GetOptions): Promise<GotFile[]> {
  const { out, source = DATA_SOURCES[name], overwrite = false } = options;
  const folder = join(out, source.folder);
  const base = checkBase(options.base ?? source.base);
  try {
    return await withLock(
      `${folder}.lock`,
      async () => {
        const got: GotFile[] = [];
        for (const file of source.files) got.push(await getFile(file, base, folder, options));
        for await (const { path, content } of UNPACKERS[name]?.(folder) ?? []) {
          const full = join(folder, path);
          got.push({ path: full, changed: await writeNew(full, content, overwrite) });
        }
        return got;
      },
      options,
    );
  } catch (error) {
    throw writeError(out, error, "give a folder that you may write to: --out DIR");
  }
}

function checkBase(base: string): string {
  const url = URL.parse(base);
  if (url && /^https?:$/.test(url.protocol)) return base.replace(/\/+$/, "");
  throw new InputError(
    { file: "--base" },
    `is "${base}", not an address`,
    "write it as https://host/path",
  );
}

async function getFile(
  { path: name, remote, size, sha256 }: PublicFile,
  base: string,
  folder: string,
  options: GetOptions,
): Promise<GotFile> {
  const path = join(folder, name);
  const url = `${base}/${remote}`;
  const source: FileSource = {
    url,
    size,
    hash: { kind: "sha256", hex: sha256 },
    failureOf: (response) => failureOf(url, response),
  };
  if (await hasContent(path, source)) return { path, url, sha256, changed: false };
  checkAbsent(path, options.overwrite);
  await downloadFile(options, source, path, (done) =>
    options.onProgress?.({ file: name, done, total: size ?? 0 }),
  );
  return { path, url, sha256, changed: true };
}

function failureOf(url: string, { status, headers }: Response): Error {
  const { host } = new URL(url);
  if (isTransient(status)) {
    const failure = new InputError({ file: host }, `failed with status ${status}`, "try later");
    return new TransientFailure(failure, retryAfter(headers));
  }
  return new InputError(
    { file: url },
    status === 404 ? "does not exist" : `answered with status ${status}`,
    "give the address of a copy with --base URL",
  );
}

/** Writes a file unless it has this content already. Returns whether it was written. */
async function writeNew(path: string, content: Uint8Array, overwrite: boolean): Promise<boolean> {
  if (existsSync(path) && (await readFile(path)).equals(content)) return false;
  checkAbsent(path, overwrite);
  await replaceFile(path, content);
  return true;
}

function checkAbsent(path: string, overwrite = false): void {
  if (overwrite || !existsSync(path)) return;
  throw new InputError(
    { file: path },
    "exists with other content",
    "move it away, give another folder with --out, or add --overwrite to replace it",
  );
}
