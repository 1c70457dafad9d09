import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { readModelFolder } from "../transformer/model/model-folder.ts";
import {
  safetensorsBytes,
  tinyConfig,
  tinyWeights,
} from "../transformer/model/tiny-model.fixture.ts";
import type { DownloadProgress, ModelDownload } from "./download-model.ts";
import { nowhere } from "./http-server.fixture.ts";
import {
  describe as description,
  filesIn,
  gitHash,
  isWeights,
  type Misbehaviour,
  setUp,
  tinyRepository,
  WEIGHTS,
  weightsOf,
} from "./hub.fixture.ts";

it("downloads exactly the files that the encoder needs", async () => {
  const { get, path, files, models, requests } = await setUp();
  expect(await get()).toEqual({ path, changed: true });
  const wanted = [...files.keys()].filter((name) => !/onnx|openvino|bin$|gitattr/.test(name));
  expect(filesIn(path)).toEqual([...wanted, "joust-download.json"].toSorted());
  for (const name of wanted) expect(readFileSync(join(path, name))).toEqual(files.get(name));
  expect((await readModelFolder(path)).weights).toEqual(tinyWeights("bert"));
  expect(readdirSync(models)).toEqual(["tiny"]);
  expect(requests.some(({ authorization }) => authorization !== undefined)).toBe(false);
});

it("reports progress up to the end", async () => {
  const { get, files } = await setUp();
  const seen: DownloadProgress[] = [];
  await get({ onProgress: (progress) => seen.push(progress) });
  const { done, total, file } = seen.at(-1)!;
  expect([done, file]).toEqual([total, WEIGHTS]);
  expect(total).toBeGreaterThan(weightsOf(files).length);
  expect(seen.every((p, i) => i === 0 || p.done >= seen[i - 1]!.done)).toBe(true);
});

describe("an existing model", () => {
  it("is not changed, without any request", async () => {
    const { get, requests, path } = await setUp();
    await get();
    const before = requests.length;
    expect(await get()).toEqual({ path, changed: false });
    expect(requests.length).toBe(before);
  });

  it("is compared with the hub if a revision is given", async () => {
    const { get, requests, path } = await setUp();
    await get();
    const before = requests.length;
    expect(await get({ revision: "main" })).toEqual({ path, changed: false });
    expect(requests.length).toBe(before + 1);
  });

  it("is completed if a file is missing or truncated", async () => {
    const { get, path, files } = await setUp();
    await get();
    truncateSync(join(path, WEIGHTS), 100);
    expect(await get()).toEqual({ path, changed: true });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("is used unchanged and never replaced if it was copied there by hand", async () => {
    const { get, path, requests } = await setUp();
    mkdirSync(path);
    writeFileSync(join(path, "config.json"), "{}");
    expect(await get()).toEqual({ path, changed: false });
    expect(requests).toEqual([]);
    await expect(get({ revision: "main" })).rejects.toThrow(
      errorText(/was not downloaded by joust; hint: move/),
    );
    expect(readdirSync(path)).toEqual(["config.json"]);
  });
});

describe("rejects, with a hint,", () => {
  const listing =
    (json: unknown): Misbehaviour =>
    ({ url }, response) =>
      url.startsWith("/api/") ? response.end(JSON.stringify(json)) : undefined;
  const status =
    (code: number, error?: string): Misbehaviour =>
    (_, response) =>
      response.writeHead(code, error ? { "x-error-code": error } : {}).end("{}");
  const whole = description(tinyRepository());
  const without = (name: string) => ({
    ...whole,
    siblings: whole.siblings.filter(({ rfilename }) => rfilename !== name),
  });
  const escaping = {
    ...whole,
    siblings: [
      ...whole.siblings,
      { rfilename: "../../evil/config.json", size: 1, blobId: gitHash(Buffer.from("x")) },
    ],
  };
  it.each<[string, Misbehaviour, Partial<ModelDownload>, RegExp]>([
    [
      "an unknown repository",
      status(404),
      { repository: "sentence-transformers/all-MiniLM-L6-v3" },
      /all-MiniLM-L6-v3: does not exist at 127.*; hint: did you mean "sentence-transformers\/all-MiniLM-L6-v2"\?/,
    ],
    [
      "an unknown repository, as the hub reports it without a token",
      status(401, "RepoNotFound"),
      {},
      /owner\/tiny: does not exist at/,
    ],
    [
      "a gated model",
      status(401, "GatedRepo"),
      {},
      /may not be downloaded from .*\(401, GatedRepo\); hint: check the name; .* set HF_TOKEN/,
    ],
    [
      "a token without access",
      status(403, "GatedRepo"),
      { token: "hf_x" },
      /hint: request access at http.*owner\/tiny with the account of HF_TOKEN/,
    ],
    [
      "an unknown revision",
      status(404, "RevisionNotFound"),
      { revision: "v9" },
      /--revision: v9 is not a branch, tag or commit/,
    ],
    ["an unexpected status", status(418), {}, /answered with status 418/],
    [
      "a server of another kind",
      listing({ hello: "world" }),
      {},
      /does not list owner\/tiny with sizes and hashes as Hugging Face does \(sha:/,
    ],
    [
      "a page instead of JSON",
      (_, response) => response.end("<html>"),
      {},
      /does not list owner\/tiny/,
    ],
    [
      "a path that leaves the folder",
      listing(escaping),
      {},
      /does not list owner\/tiny.*rfilename/,
    ],
    [
      "no weights as safetensors",
      listing(without(WEIGHTS)),
      {},
      /owner\/tiny: has no model.safetensors; hint/,
    ],
    ["no config", listing(without("config.json")), {}, /has no config.json/],
    ["no tokenizer", listing(without("tokenizer.json")), {}, /has no tokenizer.json/],
    [
      "an invalid address",
      () => undefined,
      { endpoint: "huggingface" },
      /--endpoint: is "huggingface"; hint: write it as https:\/\/huggingface.co/,
    ],
    [
      "an invalid repository",
      () => undefined,
      { repository: "../x" },
      /is not a repository; hint: write it as OWNER\/NAME/,
    ],
  ])("%s", async (_, misbehave, options, message) => {
    const { get, path } = await setUp(misbehave);
    await expect(get(options)).rejects.toThrow(errorText(message));
    expect(existsSync(path)).toBe(false);
  });

  it("a model that does not fit on the disk, before downloading", async () => {
    const siblings = whole.siblings.map((file) => {
      return "lfs" in file ? { ...file, lfs: { ...file.lfs, size: 1e15 } } : file;
    });
    const { get, requests } = await setUp(listing({ ...whole, siblings }));
    await expect(get()).rejects.toThrow(
      errorText(/has [\d.]+ MB free, and the download needs 1000000000\.\d MB/),
    );
    expect(requests.length).toBe(1);
  });

  it("an architecture that is not supported, before downloading the weights", async () => {
    const files = tinyRepository();
    const config = { ...tinyConfig("bert"), model_type: "roberta" };
    files.set("config.json", Buffer.from(JSON.stringify(config)));
    const { get, requests } = await setUp(undefined, files);
    await expect(get()).rejects.toThrow(
      errorText(/is "roberta", which is not supported; hint: .*bert or mpnet/),
    );
    expect(requests.some(({ url }) => isWeights(url))).toBe(false);
  });

  it("a server that does not run", async () => {
    const { get } = await setUp();
    await expect(get({ endpoint: await nowhere() })).rejects.toThrow(
      errorText(/^127\.0\.0\.1:\d+: refuses connections: .*; hint: check the connection/),
    );
  });

  it("a folder of models that is a file", async () => {
    const { get, models } = await setUp();
    writeFileSync(join(models, "file"), "");
    await expect(get({ models: join(models, "file") })).rejects.toThrow(
      errorText(/cannot be written \(EEXIST\); hint: give a folder that you may write to/),
    );
  });
});

it("reads sizes and hashes from the tree if the description has none", async () => {
  const files = tinyRepository();
  const { siblings, ...rest } = description(files);
  const { get, path } = await setUp(({ url }, response) => {
    if (url.includes("/revision/")) {
      const bare = siblings.map(({ rfilename }) => ({ rfilename }));
      return response.end(JSON.stringify({ ...rest, siblings: bare }));
    }
    if (url !== "/api/models/owner/tiny/tree/main?recursive=true") return undefined;
    const tree = siblings.map(({ rfilename, blobId, size, ...more }) => {
      const lfs = "lfs" in more ? { oid: more.lfs.sha256, size: more.lfs.size } : undefined;
      return { type: "file", path: rfilename, oid: blobId, size, lfs };
    });
    const folder = { type: "directory", path: "1_Pooling", oid: gitHash(Buffer.from("")), size: 0 };
    return response.end(JSON.stringify([folder, ...tree]));
  }, files);
  expect(await get()).toEqual({ path, changed: true });
  expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
});

it("downloads weights in several files if there is no single file", async () => {
  const files = tinyRepository();
  const weights = [...tinyWeights("bert")];
  const names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
  const weight_map = Object.fromEntries(weights.map(([name], i) => [name, names[i % 2]]));
  files.delete(WEIGHTS);
  for (const [n, file] of names.entries()) {
    files.set(file, safetensorsBytes(new Map(weights.filter((_, i) => i % 2 === n))));
  }
  files.set("model.safetensors.index.json", Buffer.from(JSON.stringify({ weight_map })));
  const { get, path } = await setUp(undefined, files);
  await get();
  expect((await readModelFolder(path)).weights.size).toBe(weights.length);
});

describe("two downloads at once", () => {
  it("download only once: the second waits and finds the model", async () => {
    const { get, path, requests } = await setUp();
    let waited = 0;
    const options = { onWait: () => void waited++ };
    const both = await Promise.all([get(options), get(options)]);
    expect(both.map(({ changed }) => changed).toSorted()).toEqual([false, true]);
    expect(waited).toBe(1);
    expect(requests.filter(({ url }) => isWeights(url)).length).toBe(1);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("ignore the lock of a process that no longer runs", async () => {
    const { get, path } = await setUp();
    // No process has such a high id.
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 30 }));
    expect(await get({ onWait: () => expect.unreachable() })).toEqual({ path, changed: true });
  });
});
