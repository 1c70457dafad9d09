/** Models from a Hugging Face compatible host into a folder. */
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
import { type Hub, type Listing, listRepository, type RemoteFile } from "./hub-listing.ts";

export const HUB = "https://huggingface.co";

export interface ModelDownload extends Hub, Pick<LockOptions, "onWait"> {
  readonly repository: string;
  /** Branch, tag or commit; without one a model that is there is left as it is. */
  readonly revision?: string | undefined;
  /** The folder of models. */
  readonly models: string;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Bytes, of all files together. */
export interface DownloadProgress {
  readonly file: string;
  readonly done: number;
  readonly total: number;
}

export interface Downloaded {
  readonly path: string;
  /** False where everything was there. */
  readonly changed: boolean;
}

/**
 * Downloads what the encoder needs of a repository. Files gather in NAME.download
 * beside the place, where an interrupted download goes on, and move there
 * together when each has its checksum.
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
        if (revision === undefined && (await isWhole(path))) return { path, changed: false };
        const snapshot = { repository, revision: revision ?? "main" };
        const listing = await listRepository(download, snapshot);
        const receipt = {
          repository,
          commit: listing.commit,
          files: neededFiles(repository, listing),
        };
        if (await isReceived(path, receipt.commit)) return { path, changed: false };
        await checkPlace(path);
        await fetchAll(download, receipt, `${path}.download`);
        await replaceFolder(path, `${path}.download`);
        return { path, changed: true };
      },
      download,
    );
  } catch (error) {
    throw writeError(models, error, "name a folder that you may write to: --models DIR");
  }
}

function checkAddress({ endpoint, repository }: ModelDownload): void {
  const url = URL.parse(endpoint);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InputError({ file: "--endpoint" }, `is "${endpoint}"`, `write it as ${HUB}`);
  }
  if (/^[\w.-]+\/[\w.-]+$/.test(repository) && !repository.includes("..")) return;
  throw new InputError({ file: repository }, "is no repository", "write it as OWNER/NAME");
}

/** Written into the folder: what it holds and where that is from. */
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

/** A folder of ours with all its files, or a model that was put there by hand. */
async function isWhole(path: string): Promise<boolean> {
  const receipt = await readReceipt(path);
  if (!receipt) return (await sizeOf(join(path, "config.json"))) !== undefined;
  return isReceived(path, receipt.commit);
}

async function isReceived(path: string, commit: string): Promise<boolean> {
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

/** A folder that we have not made is not ours to replace. */
async function checkPlace(path: string): Promise<void> {
  const names = await readdir(path).catch((): string[] => []);
  if (names.length === 0 || names.includes(RECEIPT_FILE)) return;
  throw new InputError(
    { file: path },
    "is there, but was not downloaded by joust",
    "move it away, or name another folder with --models",
  );
}

/** Settings, tokenizer, weights as safetensors, and the papers; in the order of their size. */
function neededFiles(repository: string, { files }: Listing): RemoteFile[] {
  const needed = files.filter(({ path }) => NEEDED.test(path));
  const whole = needed.some(({ path }) => path.endsWith("model.safetensors"));
  const chosen = needed.filter(({ path }) => !(whole && SHARDS.test(path)));
  for (const [name, pattern] of Object.entries(REQUIRED)) {
    if (chosen.some(({ path }) => pattern.test(path))) continue;
    throw new InputError(
      { file: repository },
      `has no ${name}`,
      "name a sentence-transformers model with weights as safetensors, such as MiniLM",
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
  await checkRoom(staging, files);
  let before = 0;
  for (const file of files) {
    const path = join(staging, file.path);
    const onBytes = (bytes: number) =>
      download.onProgress?.({ file: file.path, done: before + bytes, total });
    await downloadFile(download, { repository, revision: commit }, file, path, onBytes);
    before += file.size;
    // The weights come later: a model that cannot be used is refused before they do.
    if (CONFIG.test(file.path)) await readArchitecture(path);
  }
  await removeOthers(staging, new Set(files.map(({ path }) => path)));
  await writeFile(join(staging, RECEIPT_FILE), `${JSON.stringify(receipt, null, 2)}\n`);
}

async function checkRoom(staging: string, files: readonly RemoteFile[]): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = await statfs(dirname(staging));
  const there = await Promise.all(
    (await filesIn(staging)).map(async (path) => (await sizeOf(path)) ?? 0),
  );
  const missing = total - there.reduce((sum, size) => sum + size, 0);
  if (missing <= bavail * bsize) return;
  throw new InputError(
    { file: dirname(staging) },
    `has room for ${megabytes(bavail * bsize)} where ${megabytes(missing)} are to come`,
    "make room, or name another folder with --models",
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Parts and files of another version. */
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
