/** One file from the hub, gone on with where it broke, checked before it counts. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { codeOf } from "../../input/system-error.ts";
import { PassingFailure, withRetries } from "../common/retry.ts";
import {
  answered,
  failureOf,
  type Hash,
  type Hub,
  PATIENCE,
  type RemoteFile,
  request,
  type Snapshot,
} from "./hub-listing.ts";

/**
 * Downloads into `path`; `onBytes` is told how much of it is there. What came so
 * far stays beside it as a .part, named after the content, so that another
 * version's is never gone on with.
 */
export async function downloadFile(
  hub: Hub,
  snapshot: Snapshot,
  file: RemoteFile,
  path: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { size, hash } = file;
  if ((await sizeOf(path)) === size && (await hashOf(path, size, hash.kind)) === hash.hex) {
    onBytes(size);
    return;
  }
  const part = `${path}.${hash.hex.slice(0, 12)}.part`;
  const url = `${hub.endpoint}/${snapshot.repository}/resolve/${encodeURIComponent(snapshot.revision)}/${encodePath(file.path)}`;
  await mkdir(dirname(path), { recursive: true });
  let most = 0;
  await withRetries(async (progressed) => {
    if ((await sizeOf(part)) > size) await rm(part);
    await continuePart(hub, snapshot, url, part, size, (bytes) => {
      onBytes(bytes);
      // Only what no earlier attempt had is progress: a host may break at the same byte each time.
      if (bytes > most) progressed();
      most = Math.max(most, bytes);
    });
  }, hub);
  await verify(file, part);
  await rename(part, path);
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** -1 where there is no such file. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}

/** Fetches what is missing of the part. */
async function continuePart(
  hub: Hub,
  snapshot: Snapshot,
  url: string,
  part: string,
  size: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const there = await sizeOf(part);
  if (there === size) return onBytes(size);
  const have = Math.max(0, there);
  onBytes(have);
  const silence = silenceSignal(hub.patience ?? PATIENCE);
  try {
    const headers = {
      // Bytes as they are stored: sizes and ranges are of those.
      "accept-encoding": "identity",
      ...(have > 0 ? { range: `bytes=${have}-` } : {}),
    };
    const response = await request(hub, url, headers, silence.signal);
    if (response.status === 416) await rm(part, { force: true }); // the next attempt begins anew
    const goesOn = response.status === 206 && startOf(response) === have;
    if (!goesOn && response.status !== 200) {
      await response.body?.cancel();
      throw response.status === 416 || response.status === 206
        ? new PassingFailure(new InputError({ file: url }, "sends another part than asked", AGAIN))
        : failureOf(hub, snapshot, response);
    }
    // A host that knows no ranges sends everything: begin anew.
    const handle = await open(part, goesOn ? "a" : "w");
    try {
      await receive(url, response, handle, goesOn ? have : 0, size, (bytes) => {
        silence.heard();
        onBytes(bytes);
      });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw diskFault(part, size, error);
  } finally {
    silence.end();
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
  await answered(url, async () => {
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > size) break;
      await handle.writeFile(piece);
      onBytes(bytes);
    }
  });
  if (bytes === size) return;
  const problem = bytes > size ? `sends more than the ${size} bytes it has listed` : "ended early";
  throw new PassingFailure(new InputError({ file: url }, problem, AGAIN));
}

/** Aborts when nothing was heard for so long. */
function silenceSignal(milliseconds: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("no data came", "TimeoutError"));
  const timer = setTimeout(abort, milliseconds);
  return {
    signal: controller.signal,
    heard: () => timer.refresh(),
    end: () => clearTimeout(timer),
  };
}

function diskFault(part: string, size: number, error: unknown): unknown {
  const code = codeOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new InputError(
    { file: dirname(part) },
    `has no room for a file of ${size} bytes`,
    "make room and run the same command again: it goes on where it was",
  );
}

async function verify({ path, size, hash }: RemoteFile, part: string): Promise<void> {
  const found = await hashOf(part, size, hash.kind);
  if (found === hash.hex) return;
  await rm(part);
  throw new InputError(
    { file: path },
    `came damaged: its ${hash.kind === "git" ? "git hash" : "SHA-256"} is ${found}, not ${hash.hex}`,
    "it was removed: run the same command again; if that does not help, the host is at fault",
  );
}

async function hashOf(path: string, size: number, kind: Hash["kind"]): Promise<string> {
  const hash = createHash(kind === "git" ? "sha1" : "sha256");
  if (kind === "git") hash.update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}
