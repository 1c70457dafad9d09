/** Lists the files of a repository of the hub. */
import { z } from "zod";
import { InputError } from "../../input/input-error.ts";
import { didYouMean } from "../../input/nearest.ts";
import { KNOWN_MODELS } from "../common/known-models.ts";
import { isTransient, retryAfter, TransientFailure, withRetries } from "../common/retry.ts";
import type { Hash } from "./download-file.ts";
import { awaitServer, type Client, IDLE_TIMEOUT, request } from "./request.ts";

export interface Hub extends Client {
  /** URL as in HF_ENDPOINT, without a slash at the end. */
  readonly endpoint: string;
}

/** A repository at a revision: a branch, a tag or a commit. */
export interface Snapshot {
  readonly repository: string;
  readonly revision: string;
}

export interface RemoteFile {
  readonly path: string;
  readonly size: number;
  /** SHA-256 for files in git LFS, git's blob hash for others. */
  readonly hash: Hash;
}

export interface Listing {
  readonly commit: string;
  readonly files: readonly RemoteFile[];
}

/**
 * Requests the repository's description, which contains sizes and hashes on the
 * Hugging Face hub. Some compatible servers have them only in the tree of files.
 */
export async function listRepository(hub: Hub, snapshot: Snapshot): Promise<Listing> {
  const { repository, revision } = snapshot;
  const api = `${hub.endpoint}/api/models/${repository}`;
  const at = encodeURIComponent(revision);
  const about = await getJson(hub, snapshot, `${api}/revision/${at}?blobs=true`);
  const described = DESCRIPTION.safeParse(about);
  if (described.success) {
    const { sha, siblings } = described.data;
    return {
      commit: sha,
      files: siblings.map(({ rfilename, blobId, ...rest }) => fileOf(rfilename, blobId, rest)),
    };
  }
  const tree = TREE.safeParse(await getJson(hub, snapshot, `${api}/tree/${at}?recursive=true`));
  if (tree.success) {
    const commit = z.object({ sha: COMMIT }).safeParse(about).data?.sha ?? revision;
    const files = tree.data.filter(({ type }) => type === "file");
    return {
      commit,
      files: files.map(({ path, oid, size, lfs }) => {
        return fileOf(path, oid, { size, lfs: lfs && { sha256: lfs.oid, size: lfs.size } });
      }),
    };
  }
  const { path, message } = described.error.issues[0]!;
  throw new InputError(
    { file: new URL(api).host },
    `does not list ${repository} with sizes and hashes as Hugging Face does (${path.join(".")}: ${message})`,
    "give a server with that interface: --endpoint https://huggingface.co",
  );
}

/** Address of a file of a repository. */
export function urlOf({ endpoint }: Hub, { repository, revision }: Snapshot, path: string): string {
  const parts = [revision, ...path.split("/")].map(encodeURIComponent);
  return `${endpoint}/${repository}/resolve/${parts.join("/")}`;
}

interface Stored {
  readonly size: number;
  readonly lfs?: { readonly sha256: string; readonly size: number } | null | undefined;
}

function fileOf(path: string, oid: string, { size, lfs }: Stored): RemoteFile {
  return lfs
    ? { path, size: lfs.size, hash: { kind: "sha256", hex: lfs.sha256 } }
    : { path, size, hash: { kind: "git", hex: oid } };
}

/** A relative path that cannot leave the folder it is written to. */
const PATH = z.string().regex(/^(?!\/)(?!.*(^|\/)\.{1,2}(\/|$))[^\\:\0]+$/);
const SIZE = z.number().int().nonnegative();
const SHA1 = z.string().regex(/^[0-9a-f]{40}$/);
const SHA256 = z.string().regex(/^[0-9a-f]{64}$/);
const COMMIT = z.string().regex(/^[0-9a-f]{40,64}$/);
const DESCRIPTION = z.object({
  sha: COMMIT,
  siblings: z.array(
    z.object({
      rfilename: PATH,
      size: SIZE,
      blobId: SHA1,
      lfs: z.object({ sha256: SHA256, size: SIZE }).nullish(),
    }),
  ),
});
const TREE = z.array(
  z.object({
    type: z.string(),
    path: PATH,
    oid: SHA1,
    size: SIZE,
    lfs: z.object({ oid: SHA256, size: SIZE }).nullish(),
  }),
);

async function getJson(hub: Hub, snapshot: Snapshot, url: string): Promise<unknown> {
  return withRetries(async () => {
    const idle = AbortSignal.timeout(hub.idleTimeout ?? IDLE_TIMEOUT);
    const response = await request(hub, url, {}, idle);
    if (!response.ok) throw failureOf(hub, snapshot, response);
    const text = await awaitServer(url, () => response.text());
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return undefined;
    }
  }, hub);
}

/** Makes the error for a response status other than success. */
export function failureOf(hub: Hub, { repository, revision }: Snapshot, response: Response): Error {
  const { status, headers } = response;
  const host = new URL(hub.endpoint).host;
  const code = headers.get("x-error-code") ?? "";
  if (isTransient(status)) {
    const failure = new InputError(
      { file: host },
      `failed with status ${status}`,
      "try again later",
    );
    return new TransientFailure(failure, retryAfter(headers));
  }
  if (code === "RevisionNotFound") {
    return new InputError(
      { file: "--revision" },
      `${revision} is not a branch, tag or commit of ${repository}`,
      "omit it for the newest version",
    );
  }
  const page = `${hub.endpoint}/${repository}`;
  // Without a token the hub answers 401 for repositories that do not exist, too.
  if ((status === 401 || status === 403) && code !== "RepoNotFound") {
    return new InputError(
      { file: repository },
      `may not be downloaded from ${host} (${status}${code && `, ${code}`})`,
      hub.token
        ? `request access at ${page} with the account of HF_TOKEN, and allow the token to read gated models`
        : `check the name; if the model is private or gated, request access at ${page} and set HF_TOKEN`,
    );
  }
  if (status === 404 || status === 401) {
    const known = KNOWN_MODELS.flatMap((model) => [model.name, model.repository]);
    const names = KNOWN_MODELS.map(({ name }) => name).join(", ");
    return new InputError(
      { file: repository },
      `does not exist at ${host}`,
      `${didYouMean(repository, known)}give a model, ${names}, or a repository as OWNER/NAME`,
    );
  }
  return new InputError({ file: host }, `answered with status ${status}`, `see ${page}`);
}
