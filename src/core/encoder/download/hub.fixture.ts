import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Random } from "../../random/random.ts";
import { type ModelFiles, tinyModel } from "../transformer/model/tiny-model.fixture.ts";
import { downloadModel, type ModelDownload } from "./download-model.ts";
import { serve } from "./http-server.fixture.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

interface HubRequest {
  readonly url: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** Handles a request incorrectly, or returns undefined for the correct response. */
export type Misbehaviour = (
  request: HubRequest & { readonly bytes: Buffer | undefined },
  response: ServerResponse,
) => unknown;

/** A server with one repository in the form of the Hugging Face hub: description, tree, and files with ranges. */
export async function serveHub(
  files: ReadonlyMap<string, Buffer>,
  misbehave: Misbehaviour = () => undefined,
  repository = "owner/tiny",
) {
  const requests: HubRequest[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url!;
    const { range, authorization } = request.headers;
    requests.push({ url, range, authorization });
    const path = new RegExp(`^/${repository}/resolve/${COMMIT}/(.*)$`).exec(url)?.[1];
    const bytes = path === undefined ? undefined : files.get(decodeURIComponent(path));
    if (misbehave({ url, range, authorization, bytes }, response) !== undefined) return;
    if (url === `/api/models/${repository}/revision/main?blobs=true`) {
      response.end(JSON.stringify(describe(files)));
    } else if (bytes) sendFile(bytes, range, response);
    else response.writeHead(404, { "x-error-code": "RepoNotFound" }).end("{}");
  };
  return { endpoint: await serve(listener), requests };
}

export function sendFile(bytes: Buffer, range: string | undefined, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
  const headers = { "content-length": bytes.length - from, "accept-ranges": "bytes" };
  if (range === undefined) response.writeHead(200, headers);
  else {
    const place = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { ...headers, "content-range": place });
  }
  response.end(bytes.subarray(from));
}

export function describe(files: ReadonlyMap<string, Buffer>) {
  const siblings = [...files].map(([rfilename, bytes]) => {
    const common = { rfilename, size: bytes.length, blobId: gitHash(bytes) };
    if (!rfilename.endsWith(".safetensors")) return common;
    const lfs = { sha256: sha256(bytes), size: bytes.length, pointerSize: 134 };
    return { ...common, blobId: gitHash(Buffer.from("pointer")), lfs };
  });
  return { id: "owner/tiny", sha: COMMIT, siblings };
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The hash that `git hash-object` prints. */
export function gitHash(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** The files of a repository with a tiny model, including files that the encoder does not need. */
export function tinyRepository(): Map<string, Buffer> {
  const files: ModelFiles = {
    ...tinyModel("bert"),
    "README.md": "# A tiny model",
    ".gitattributes": "*.safetensors filter=lfs",
    "pytorch_model.bin": "old weights",
    "onnx/model.onnx": "other weights",
    "openvino/openvino_model.xml": "<xml>",
  };
  return new Map(
    Object.entries(files).map(([path, content]) => {
      if (content instanceof Uint8Array) return [path, Buffer.from(content)];
      return [path, Buffer.from(typeof content === "string" ? content : JSON.stringify(content))];
    }),
  );
}

export const WEIGHTS = "model.safetensors";
export const weightsOf = (files: ReadonlyMap<string, Buffer>) => files.get(WEIGHTS)!;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-hub-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts a server and makes a folder to download into. */
export async function setUp(misbehave?: Misbehaviour, files = tinyRepository()) {
  const hub = await serveHub(files, misbehave);
  const models = newFolder();
  const slept: number[] = [];
  const get = (options: Partial<ModelDownload> = {}) =>
    downloadModel({
      endpoint: hub.endpoint,
      repository: "owner/tiny",
      models,
      attempts: 3,
      random: Random.seeded(1),
      sleep: async (milliseconds) => void slept.push(milliseconds),
      ...options,
    });
  return { ...hub, files, models, slept, get, path: join(models, "tiny") };
}

export const isWeights = (url: string) => url.endsWith(`/${WEIGHTS}`);

/** Misbehaves for the first `count` requests for the weights. */
export function first(count: number, misbehave: Misbehaviour): Misbehaviour {
  let seen = 0;
  return (request, response) => {
    if (!isWeights(request.url) || ++seen > count) return undefined;
    return misbehave(request, response);
  };
}

/** Lists all files in a folder and its subfolders. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** The hash that the description gives for the weights. */
export function weightsHash(files: ReadonlyMap<string, Buffer>): string {
  const { siblings } = describe(files);
  const weights = siblings.find(({ rfilename }) => rfilename === WEIGHTS)!;
  return "lfs" in weights ? weights.lfs.sha256 : "";
}
