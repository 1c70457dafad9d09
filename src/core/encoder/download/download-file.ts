/** Downloads one file: resumes after an interruption and verifies the checksum. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { codeOf } from "../../input/system-error.ts";
import { TransientFailure, withRetries } from "../common/retry.ts";
import { awaitServer, type Client, IDLE_TIMEOUT, request } from "./request.ts";

/** A file on a server. */
export interface FileSource {
  readonly url: string;
  /** Size in bytes; undefined if only the server knows it. A git hash cannot be checked without it. */
  readonly size?: number | undefined;
  readonly hash: Hash;
  /** Makes the error for a response status other than success. */
  failureOf(response: Response): Error;
}

/** SHA-256, or git's blob hash, a SHA-1 over a header and the content. */
export interface Hash {
  readonly kind: "sha256" | "git";
  readonly hex: string;
}

/**
 * Downloads into `path` and reports the bytes received to `onBytes`. Received data
 * is kept in a .part file. Its name contains the file's hash, so that a download
 * never resumes with the data of another version.
 */
export async function downloadFile(
  client: Client,
  source: FileSource,
  path: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { size = Infinity, hash } = source;
  if (await hasContent(path, source)) {
    onBytes(await sizeOf(path));
    return;
  }
  const part = `${path}.${hash.hex.slice(0, 12)}.part`;
  await mkdir(dirname(path), { recursive: true });
  let most = 0;
  await withRetries(async (progressed) => {
    if ((await sizeOf(part)) > size) await rm(part);
    await continuePart(client, source, part, (bytes) => {
      onBytes(bytes);
      // Only bytes that no earlier attempt received are progress: a server may fail at the same
      // byte each time.
      if (bytes > most) progressed();
      most = Math.max(most, bytes);
    });
  }, client);
  await verify(source, part);
  await rename(part, path);
}

/** Whether the file exists and has the right hash. */
export async function hasContent(
  path: string,
  { size, hash }: Pick<FileSource, "size" | "hash">,
): Promise<boolean> {
  const there = await sizeOf(path);
  if (there < 0 || there !== (size ?? there)) return false;
  return (await hashOf(path, there, hash.kind)) === hash.hex;
}

/** Size of a file; -1 if it does not exist. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}

/** Downloads the missing rest of a .part file. */
async function continuePart(
  client: Client,
  { url, size, failureOf }: FileSource,
  part: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const there = await sizeOf(part);
  if (there === size) return onBytes(there);
  const have = Math.max(0, there);
  onBytes(have);
  const idle = idleSignal(client.idleTimeout ?? IDLE_TIMEOUT);
  try {
    const headers = {
      // Sizes and ranges refer to the stored bytes.
      "accept-encoding": "identity",
      ...(have > 0 ? { range: `bytes=${have}-` } : {}),
    };
    const response = await request(client, url, headers, idle.signal);
    if (response.status === 416) await rm(part, { force: true }); // the next attempt starts over
    const resumes = response.status === 206 && startOf(response) === have;
    if (!resumes && response.status !== 200) {
      await response.body?.cancel();
      throw response.status === 416 || response.status === 206
        ? new TransientFailure(
            new InputError({ file: url }, "sends a range that was not requested", AGAIN),
          )
        : failureOf(response);
    }
    // A server without support for ranges sends the whole file.
    const from = resumes ? have : 0;
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    const handle = await open(part, resumes ? "a" : "w");
    try {
      await receive(url, response, handle, from, size ?? from + length, (bytes) => {
        idle.reset();
        onBytes(bytes);
      });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw diskFullError(part, size, error);
  } finally {
    idle.end();
  }
}

const AGAIN = "run the same command again";

function startOf(response: Response): number | undefined {
  const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
  return start === undefined ? undefined : Number(start);
}

async function receive(
  url: string,
  response: Response,
  handle: FileHandle,
  from: number,
  size: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let bytes = from;
  await awaitServer(url, async () => {
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > size) break;
      await handle.writeFile(piece);
      onBytes(bytes);
    }
  });
  // A server that announces no length may end anywhere; then the checksum decides.
  if (bytes === size || Number.isNaN(size)) return;
  const problem = bytes > size ? `sends more than the ${size} bytes that it listed` : "ended early";
  throw new TransientFailure(new InputError({ file: url }, problem, AGAIN));
}

/** A signal that aborts when it was not reset for some time. */
function idleSignal(milliseconds: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("no data came", "TimeoutError"));
  const timer = setTimeout(abort, milliseconds);
  return {
    signal: controller.signal,
    reset: () => timer.refresh(),
    end: () => clearTimeout(timer),
  };
}

function diskFullError(part: string, size: number | undefined, error: unknown): unknown {
  const code = codeOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new InputError(
    { file: dirname(part) },
    `has no space for a file${size === undefined ? "" : ` of ${size} bytes`}`,
    "free some disk space and run the same command again: the download resumes",
  );
}

async function verify({ url, hash }: FileSource, part: string): Promise<void> {
  const found = await hashOf(part, await sizeOf(part), hash.kind);
  if (found === hash.hex) return;
  await rm(part);
  throw new InputError(
    { file: url },
    `arrived damaged: its ${hash.kind === "git" ? "git hash" : "SHA-256"} is ${found}, not ${hash.hex}`,
    "run the same command again, which downloads it anew; if it fails again, the server is at fault",
  );
}

async function hashOf(path: string, size: number, kind: Hash["kind"]): Promise<string> {
  const hash = createHash(kind === "git" ? "sha1" : "sha256");
  if (kind === "git") hash.update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}
