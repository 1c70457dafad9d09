/** Downloads models from the Hugging Face hub, or a compatible server, into a folder. */
import { readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { z } from "zod";
import { type LockOptions, withLock } from "../../input/folder-lock.ts";
import { InputError } from "../../input/input-error.ts";
import { readJsonIfAny } from "../../input/json.ts";
import { replaceFolder } from "../../input/replace-folder.ts";
import { writeError } from "../../input/system-error.ts";
import { folderOf } from "../common/find-model.ts";
import { readArchitecture } from "../transformer/model/architecture.ts";
import { downloadFile } from "./download-file.ts";
import {
  failureOf,
  type Hub,
  type Listing,
  listRepository,
  type RemoteFile,
  urlOf,
} from "./hub-listing.ts";

export const HUB = "https://huggingface.co";

export interface ModelDownload extends Hub, Pick<LockOptions, "onWait"> {
  readonly repository: string;
  /** Branch, tag or commit. Without one, a model that is already there is not updated. */
  readonly revision?: string | undefined;
  /** Folder of models. */
  readonly models: string;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Progress in bytes, over all files. */
export interface DownloadProgress {
  readonly file: string;
  readonly done: number;
  readonly total: number;
}

export interface Downloaded {
  readonly path: string;
  /** False if the model was there already. */
  readonly changed: boolean;
}

/**
 * Downloads the files of a repository that the encoder needs. They are collected
 * in NAME.download, where an interrupted download resumes. When all checksums are
 * right, the folder is renamed to NAME.
 */
export async function downloadModel(options: ModelDownload): Promise<Downloaded> {
  const download = { ...options, endpoint: options.endpoint.replace(/\/+$/, "") };
  const { repository, models, revision } = download;
  checkAddress(download);
  const path = join(models, folderOf(repository));
  try {
    return await withLock(
      `${path}.lock`,
      async () => {
        if (revision === undefined && (await isComplete(path))) return { path, changed: false };
        const snapshot = { repository, revision: revision ?? "main" };
        const listing = await listRepository(download, snapshot);
        const receipt = {
          repository,
          commit: listing.commit,
          files: neededFiles(repository, listing),
        };
        if (await hasCommit(path, receipt.commit)) return { path, changed: false };
        await checkTarget(path);
        await fetchAll(download, receipt, `${path}.download`);
        await replaceFolder(path, `${path}.download`);
        return { path, changed: true };
      },
      download,
    );
  } catch (error) {
    throw writeError(models, error, "give a folder that you may write to: --models DIR");
  }
}

function checkAddress({ endpoint, repository }: ModelDownload): void {
  const url = URL.parse(endpoint);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InputError({ file: "--endpoint" }, `is "${endpoint}"`, `write it as ${HUB}`);
  }
  if (/^[\w.-]+\/[\w.-]+$/.test(repository) && !repository.includes("..")) return;
  throw new InputError({ file: repository }, "is not a repository", "write it as OWNER/NAME");
}

/** Record of a download, kept in the model's folder: the source and the files. */
type Receipt = z.infer<typeof RECEIPT>;
const RECEIPT = z.object({
  repository: z.string(),
  commit: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      size: z.number(),
      hash: z.object({ kind: z.enum(["sha256", "git"]), hex: z.string() }),
    }),
  ),
});
const RECEIPT_FILE = "joust-download.json";

function readReceipt(path: string): Promise<Receipt | undefined> {
  return readJsonIfAny(
    join(path, RECEIPT_FILE),
    RECEIPT,
    "remove the folder and download it again",
  );
}

/** Whether the folder is a complete download, or a model that was copied there by hand. */
async function isComplete(path: string): Promise<boolean> {
  const receipt = await readReceipt(path);
  if (!receipt) return (await sizeOf(join(path, "config.json"))) !== undefined;
  return hasCommit(path, receipt.commit);
}

async function hasCommit(path: string, commit: string): Promise<boolean> {
  const receipt = await readReceipt(path);
  if (receipt?.commit !== commit) return false;
  for (const file of receipt.files) {
    if ((await sizeOf(join(path, file.path))) !== file.size) return false;
  }
  return true;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** Refuses to replace a folder that this program has not downloaded. */
async function checkTarget(path: string): Promise<void> {
  const names = await readdir(path).catch((): string[] => []);
  if (names.length === 0 || names.includes(RECEIPT_FILE)) return;
  throw new InputError(
    { file: path },
    "exists, but was not downloaded by joust",
    "move it away, or give another folder with --models",
  );
}

/** Selects settings, tokenizer, safetensors weights, README and licence, smallest file first. */
function neededFiles(repository: string, { files }: Listing): RemoteFile[] {
  const needed = files.filter(({ path }) => NEEDED.test(path));
  const hasOneFile = needed.some(({ path }) => path.endsWith("model.safetensors"));
  const chosen = needed.filter(({ path }) => !(hasOneFile && SHARDS.test(path)));
  for (const [name, pattern] of Object.entries(REQUIRED)) {
    if (chosen.some(({ path }) => pattern.test(path))) continue;
    throw new InputError(
      { file: repository },
      `has no ${name}`,
      "use a sentence-transformers model with safetensors weights, such as MiniLM",
    );
  }
  return chosen.toSorted((a, b) => a.size - b.size);
}

const CONFIG = /^(\d_Transformer\/)?config\.json$/;
const NEEDED = new RegExp(
  [
    "^(\\d_Transformer/)?(",
    "(config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|sentence_bert_config)\\.json",
    "|vocab\\.txt|model\\.safetensors|model-\\d+-of-\\d+\\.safetensors|model\\.safetensors\\.index\\.json)$",
    "|^(modules|config_sentence_transformers)\\.json$|^\\d_[A-Za-z]+/config\\.json$",
    "|^(README\\.md|LICENSE[^/]*|NOTICE[^/]*)$",
  ].join(""),
);
const REQUIRED = {
  "config.json": CONFIG,
  "tokenizer.json": /^(\d_Transformer\/)?tokenizer\.json$/,
  "model.safetensors": /\.safetensors$/,
};
const SHARDS = /model-\d+-of-\d+\.safetensors$|model\.safetensors\.index\.json$/;

async function fetchAll(download: ModelDownload, receipt: Receipt, staging: string): Promise<void> {
  const { files, repository, commit } = receipt;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  await checkDiskSpace(staging, files);
  let before = 0;
  for (const file of files) {
    const path = join(staging, file.path);
    const onBytes = (bytes: number) =>
      download.onProgress?.({ file: file.path, done: before + bytes, total });
    const snapshot = { repository, revision: commit };
    const source = {
      ...file,
      url: urlOf(download, snapshot, file.path),
      failureOf: (response: Response) => failureOf(download, snapshot, response),
    };
    await downloadFile(download, source, path, onBytes);
    before += file.size;
    // Checked before the weights are downloaded, which are larger.
    if (CONFIG.test(file.path)) await readArchitecture(path);
  }
  await removeOthers(staging, new Set(files.map(({ path }) => path)));
  await writeFile(join(staging, RECEIPT_FILE), `${JSON.stringify(receipt, null, 2)}\n`);
}

async function checkDiskSpace(staging: string, files: readonly RemoteFile[]): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = await statfs(dirname(staging));
  const there = await Promise.all(
    (await filesIn(staging)).map(async (path) => (await sizeOf(path)) ?? 0),
  );
  const missing = total - there.reduce((sum, size) => sum + size, 0);
  if (missing <= bavail * bsize) return;
  throw new InputError(
    { file: dirname(staging) },
    `has ${megabytes(bavail * bsize)} free, and the download needs ${megabytes(missing)}`,
    "free some disk space, or give another folder with --models",
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Removes partial files and files of other versions. */
async function removeOthers(staging: string, paths: ReadonlySet<string>): Promise<void> {
  for (const file of await filesIn(staging)) {
    if (!paths.has(relative(staging, file).split(sep).join("/"))) await rm(file);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
