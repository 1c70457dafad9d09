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

it("downloads what the encoder needs and no more, whole and in place", async () => {
  const { get, path, files, models, asked } = await setUp();
  expect(await get()).toEqual({ path, changed: true });
  const wanted = [...files.keys()].filter((name) => !/onnx|openvino|bin$|gitattr/.test(name));
  expect(filesIn(path)).toEqual([...wanted, "joust-download.json"].toSorted());
  for (const name of wanted) expect(readFileSync(join(path, name))).toEqual(files.get(name));
  expect((await readModelFolder(path)).weights).toEqual(tinyWeights("bert"));
  expect(readdirSync(models)).toEqual(["tiny"]);
  expect(asked.some(({ authorization }) => authorization !== undefined)).toBe(false);
});

it("tells how far it is, up to the end", async () => {
  const { get, files } = await setUp();
  const seen: DownloadProgress[] = [];
  await get({ onProgress: (progress) => seen.push(progress) });
  const { done, total, file } = seen.at(-1)!;
  expect([done, file]).toEqual([total, WEIGHTS]);
  expect(total).toBeGreaterThan(weightsOf(files).length);
  expect(seen.every((p, i) => i === 0 || p.done >= seen[i - 1]!.done)).toBe(true);
});

describe("a model that is there", () => {
  it("is left alone, without a word to the host", async () => {
    const { get, asked, path } = await setUp();
    await get();
    const before = asked.length;
    expect(await get()).toEqual({ path, changed: false });
    expect(asked.length).toBe(before);
  });

  it("is compared with the host's where a revision is named", async () => {
    const { get, asked, path } = await setUp();
    await get();
    const before = asked.length;
    expect(await get({ revision: "main" })).toEqual({ path, changed: false });
    expect(asked.length).toBe(before + 1);
  });

  it("is completed where a file of it is gone or cut", async () => {
    const { get, path, files } = await setUp();
    await get();
    truncateSync(join(path, WEIGHTS), 100);
    expect(await get()).toEqual({ path, changed: true });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("is used as it is where it was put there by hand, and never replaced", async () => {
    const { get, path, asked } = await setUp();
    mkdirSync(path);
    writeFileSync(join(path, "config.json"), "{}");
    expect(await get()).toEqual({ path, changed: false });
    expect(asked).toEqual([]);
    await expect(get({ revision: "main" })).rejects.toThrow(
      errorText(/was not downloaded by joust; hint: move/),
    );
    expect(readdirSync(path)).toEqual(["config.json"]);
  });
});

describe("refuses, with the remedy", () => {
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
      "a name that is none",
      status(404),
      { repository: "sentence-transformers/all-MiniLM-L6-v3" },
      /all-MiniLM-L6-v3: does not exist at 127.*; hint: did you mean "sentence-transformers\/all-MiniLM-L6-v2"\?/,
    ],
    [
      "a name that is none, in the words of the hub",
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
      "a token that is not enough",
      status(403, "GatedRepo"),
      { token: "hf_x" },
      /hint: ask for access at http.*owner\/tiny with the account of HF_TOKEN/,
    ],
    [
      "an unknown revision",
      status(404, "RevisionNotFound"),
      { revision: "v9" },
      /--revision: v9 is no branch, tag or commit/,
    ],
    ["a host that has gone mad", status(418), {}, /refused with status 418/],
    [
      "a host of another kind",
      listing({ hello: "world" }),
      {},
      /does not list owner\/tiny with sizes and hashes as Hugging Face does \(sha:/,
    ],
    [
      "a page in place of JSON",
      (_, response) => response.end("<html>"),
      {},
      /does not list owner\/tiny/,
    ],
    ["a path out of the folder", listing(escaping), {}, /does not list owner\/tiny.*rfilename/],
    [
      "no weights as safetensors",
      listing(without(WEIGHTS)),
      {},
      /owner\/tiny: has no model.safetensors; hint/,
    ],
    ["no config", listing(without("config.json")), {}, /has no config.json/],
    ["no tokenizer", listing(without("tokenizer.json")), {}, /has no tokenizer.json/],
    [
      "an address that is none",
      () => undefined,
      { endpoint: "huggingface" },
      /--endpoint: is "huggingface"; hint: write it as https:\/\/huggingface.co/,
    ],
    [
      "no repository",
      () => undefined,
      { repository: "../x" },
      /is no repository; hint: write it as OWNER\/NAME/,
    ],
  ])("%s", async (_, misbehave, options, message) => {
    const { get, path } = await setUp(misbehave);
    await expect(get(options)).rejects.toThrow(errorText(message));
    expect(existsSync(path)).toBe(false);
  });

  it("more than the disk has room for, before anything comes", async () => {
    const siblings = whole.siblings.map((file) => {
      return "lfs" in file ? { ...file, lfs: { ...file.lfs, size: 1e15 } } : file;
    });
    const { get, asked } = await setUp(listing({ ...whole, siblings }));
    await expect(get()).rejects.toThrow(
      errorText(/has room for [\d.]+ MB where 1000000000\.\d MB are to come/),
    );
    expect(asked.length).toBe(1);
  });

  it("an architecture that is not supported, before the weights come", async () => {
    const files = tinyRepository();
    const config = { ...tinyConfig("bert"), model_type: "roberta" };
    files.set("config.json", Buffer.from(JSON.stringify(config)));
    const { get, asked } = await setUp(undefined, files);
    await expect(get()).rejects.toThrow(
      errorText(/is "roberta", which is not supported; hint: .*bert and mpnet/),
    );
    expect(asked.some(({ url }) => isWeights(url))).toBe(false);
  });

  it("a host that is not there", async () => {
    const { get } = await setUp();
    await expect(get({ endpoint: await nowhere() })).rejects.toThrow(
      errorText(/^127\.0\.0\.1:\d+: refuses connections: .*; hint: check the connection/),
    );
  });

  it("a folder that is a file", async () => {
    const { get, models } = await setUp();
    writeFileSync(join(models, "file"), "");
    await expect(get({ models: join(models, "file") })).rejects.toThrow(
      errorText(/cannot be written \(EEXIST\); hint: name a folder that you may write to/),
    );
  });
});

it("reads sizes and hashes from the tree, where the description has none", async () => {
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

it("takes weights in several files where there is no single one", async () => {
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

describe("two at once", () => {
  it("download once: the second waits, and finds everything there", async () => {
    const { get, path, asked } = await setUp();
    let waited = 0;
    const options = { onWait: () => void waited++ };
    const both = await Promise.all([get(options), get(options)]);
    expect(both.map(({ changed }) => changed).toSorted()).toEqual([false, true]);
    expect(waited).toBe(1);
    expect(asked.filter(({ url }) => isWeights(url)).length).toBe(1);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("a lock of a process that is gone holds nobody up", async () => {
    const { get, path } = await setUp();
    // No process has so high a number.
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 30 }));
    expect(await get({ onWait: () => expect.unreachable() })).toEqual({ path, changed: true });
  });
});
