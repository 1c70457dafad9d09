import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Random } from "../random/random.ts";
import { nowhere, serve } from "./http-server.fixture.ts";
import {
  describe as description,
  gitHash,
  type Misbehaviour,
  sendFile,
  serveHub,
  tinyRepository,
} from "./hub.fixture.ts";
import { type DownloadProgress, downloadModel, type ModelDownload } from "./hub.ts";
import { readModelFolder } from "./transformer/model-folder.ts";
import { safetensorsBytes, tinyConfig, tinyWeights } from "./transformer/tiny-model.fixture.ts";

const WEIGHTS = "model.safetensors";
const weightsOf = (files: ReadonlyMap<string, Buffer>) => files.get(WEIGHTS)!;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-hub-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A host, and a folder to download into. */
async function setUp(misbehave?: Misbehaviour, files = tinyRepository()) {
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

const isWeights = (url: string) => url.endsWith(`/${WEIGHTS}`);

/** Misbehaves with the first so many requests for the weights. */
function first(count: number, misbehave: Misbehaviour): Misbehaviour {
  let seen = 0;
  return (asked, response) => {
    if (!isWeights(asked.url) || ++seen > count) return undefined;
    return misbehave(asked, response);
  };
}

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
      /was not downloaded by joust; help: move/,
    );
    expect(readdirSync(path)).toEqual(["config.json"]);
  });
});

describe("goes on where it broke", () => {
  const brokenOnce = () =>
    first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      response.write(bytes!.subarray(0, 2000), () => setTimeout(() => response.destroy(), 5));
      return true;
    });

  it("within one run", async () => {
    const { get, path, files, asked, slept } = await setUp(brokenOnce());
    await get();
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    const ranges = asked.filter(({ url }) => isWeights(url)).map(({ range }) => range);
    expect(ranges).toEqual([undefined, "bytes=2000-"]);
    expect(slept.length).toBe(1);
  });

  it("in the next run, after the first was given up", async () => {
    const { get, path, files, asked, models } = await setUp(brokenOnce());
    await expect(get({ attempts: 1 })).rejects.toThrow(
      /broke the connection .* goes on where it was/,
    );
    expect(readdirSync(models)).toEqual(["tiny.download"]); // no lock, nothing in place
    expect(await get()).toEqual({ path, changed: true });
    expect(asked.filter(({ url }) => isWeights(url)).map(({ range }) => range)).toEqual([
      undefined,
      "bytes=2000-",
    ]);
    expect(asked.filter(({ url }) => url.endsWith("tokenizer.json")).length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(readdirSync(models)).toEqual(["tiny"]);
  });

  it("from the beginning, where the host knows no ranges", async () => {
    const half = brokenOnce();
    const { get, path, files, asked } = await setUp((asked, response) => {
      const broken = half(asked, response);
      if (broken !== undefined || !asked.bytes) return broken;
      response.end(asked.bytes); // 200, whatever was asked for
      return true;
    });
    await get();
    expect(asked.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("from the beginning, where the host refuses the range", async () => {
    const half = brokenOnce();
    const { get, path, files, asked } = await setUp((asked, response) => {
      const broken = half(asked, response);
      if (broken !== undefined) return broken;
      if (asked.range === undefined) return undefined;
      response.writeHead(416).end();
      return true;
    });
    await get();
    expect(asked.filter(({ range }) => range === "bytes=2000-").length).toBe(1);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("as often as it takes, if each time brings something", async () => {
    const { get, path, files, asked } = await setUp(
      first(20, ({ bytes, range }, response) => {
        const from = Number(/\d+/.exec(range ?? "0")![0]);
        const rest = { "content-length": bytes!.length - from };
        if (from > 0) {
          const place = `bytes ${from}-${bytes!.length - 1}/${bytes!.length}`;
          response.writeHead(206, { ...rest, "content-range": place });
        } else response.writeHead(200, rest);
        response.write(bytes!.subarray(from, from + 200), () =>
          setTimeout(() => response.destroy(), 2),
        );
        return true;
      }),
    );
    await get(); // with three attempts
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(asked.filter(({ url }) => isWeights(url)).length).toBe(21);
  });

  it("but not for ever with a host that always breaks at the same byte", async () => {
    const { get, asked } = await setUp(
      first(99, ({ bytes }, response) => {
        response.writeHead(200, { "content-length": bytes!.length });
        response.write(bytes!.subarray(0, 500), () => setTimeout(() => response.destroy(), 2));
        return true;
      }),
    );
    await expect(get()).rejects.toThrow(/broke the connection/);
    expect(asked.filter(({ url }) => isWeights(url)).length).toBeLessThanOrEqual(5);
  });

  it("when nothing came for a while", async () => {
    const silent = first(1, ({ bytes }, response) => {
      response.writeHead(200, { "content-length": bytes!.length });
      return response.write(bytes!.subarray(0, 2000)); // and then no more
    });
    const { get, path, files } = await setUp(silent);
    await get({ patience: 100 });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });

  it("after it was stopped", async () => {
    const { get, path, files, asked, models } = await setUp(
      first(1, ({ bytes }, response) => {
        response.writeHead(200, { "content-length": bytes!.length });
        return response.write(bytes!.subarray(0, 2000));
      }),
    );
    const stop = new AbortController();
    const onProgress = ({ file, done }: DownloadProgress) => {
      if (file === WEIGHTS && done > 2000) stop.abort();
    };
    await expect(get({ signal: stop.signal, onProgress })).rejects.toThrow(/abort/);
    expect(readdirSync(models)).toEqual(["tiny.download"]);
    await get();
    expect(asked.at(-1)).toMatchObject({ range: "bytes=2000-" });
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  });
});

describe("tries again what may pass", () => {
  it.each([429, 500, 503])("status %i, of the list and of a file", async (status) => {
    let failures = 0;
    const { get, path, slept } = await setUp(({ url }, response) => {
      if (failures >= 4 || (failures >= 2 && !isWeights(url))) return undefined;
      failures++;
      return response.writeHead(status, { "retry-after": "7" }).end();
    });
    expect(await get()).toEqual({ path, changed: true });
    expect(slept).toEqual([7000, 7000, 7000, 7000]);
  });
});

it("follows a redirect to another path, the range with it", async () => {
  const files = tinyRepository();
  const { get, path, asked } = await setUp(({ url, range, bytes }, response) => {
    if (url.startsWith("/cdn/")) return sendFile(files.get(url.slice(5))!, range, response) ?? true;
    if (!bytes) return undefined;
    return response.writeHead(302, { location: `/cdn/${url.split("/").slice(5).join("/")}` }).end();
  }, files);
  const part = join(`${path}.download`, `${WEIGHTS}.${sha(files).slice(0, 12)}.part`);
  mkdirSync(`${path}.download`);
  writeFileSync(part, weightsOf(files).subarray(0, 1000));
  await get();
  expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
  expect(asked.at(-1)).toMatchObject({ url: `/cdn/${WEIGHTS}`, range: "bytes=1000-" });
});

it("sends the token to the host, and not where the host redirects to", async () => {
  const files = tinyRepository();
  const elsewhere: (string | undefined)[] = [];
  const cdn = await serve((request, response) => {
    elsewhere.push(request.headers.authorization);
    sendFile(files.get(request.url!.slice(1))!, request.headers.range, response);
  });
  const { get, asked } = await setUp(({ url, bytes }, response) => {
    if (!bytes) return undefined;
    return response
      .writeHead(302, { location: `${cdn}/${url.split("/").slice(5).join("/")}` })
      .end();
  }, files);
  await get({ token: "hf_secret" });
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(
    new Set(["Bearer hf_secret"]),
  );
  expect(elsewhere.length).toBeGreaterThan(5);
  expect(new Set(elsewhere)).toEqual(new Set([undefined]));
});

describe("a file that is not what was listed", () => {
  const spoilt =
    (name: string): Misbehaviour =>
    ({ url, bytes }, response) => {
      if (!url.endsWith(`/${name}`)) return undefined;
      const other = Buffer.from(bytes!);
      other[0]! ^= 1;
      return response.end(other);
    };
  it.each([
    [WEIGHTS, /model.safetensors: came damaged: its SHA-256 is .*; help: it was removed: run/],
    ["tokenizer.json", /tokenizer.json: came damaged: its git hash is/],
  ])("%s is removed, said, and put nowhere", async (name, message) => {
    const { get, path, models } = await setUp(spoilt(name));
    await expect(get()).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny.download"]);
    expect(filesIn(`${path}.download`).some((file) => file.startsWith(name))).toBe(false);
  });

  it("that is longer or shorter than listed does not pass", async () => {
    const longer = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(Buffer.concat([bytes!, bytes!])) : undefined,
    );
    await expect(longer.get()).rejects.toThrow(/sends more than the \d+ bytes it has listed/);
    const shorter = await setUp(({ url, bytes }, response) =>
      isWeights(url) ? response.end(bytes!.subarray(0, 100)) : undefined,
    );
    await expect(shorter.get()).rejects.toThrow(/ended early/);
  });

  it("and a part of another version is not gone on with", async () => {
    const { get, path, files, asked, models } = await setUp();
    mkdirSync(`${path}.download`);
    writeFileSync(join(`${path}.download`, `${WEIGHTS}.0123456789ab.part`), "another version's");
    writeFileSync(join(`${path}.download`, WEIGHTS), "damaged on the disk");
    await get();
    expect(asked.every(({ range }) => range === undefined)).toBe(true);
    expect(readFileSync(join(path, WEIGHTS))).toEqual(weightsOf(files));
    expect(filesIn(path).some((name) => name.endsWith(".part"))).toBe(false);
    expect(readdirSync(models)).toEqual(["tiny"]);
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
      /all-MiniLM-L6-v3: does not exist at 127.*; help: did you mean "sentence-transformers\/all-MiniLM-L6-v2"\?/,
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
      /may not be downloaded from .*\(401, GatedRepo\); help: check the name; .* set HF_TOKEN/,
    ],
    [
      "a token that is not enough",
      status(403, "GatedRepo"),
      { token: "hf_x" },
      /help: ask for access at http.*owner\/tiny with the account of HF_TOKEN/,
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
      /owner\/tiny: has no model.safetensors; help/,
    ],
    ["no config", listing(without("config.json")), {}, /has no config.json/],
    ["no tokenizer", listing(without("tokenizer.json")), {}, /has no tokenizer.json/],
    [
      "an address that is none",
      () => undefined,
      { endpoint: "huggingface" },
      /--endpoint: is "huggingface"; help: write it as https:\/\/huggingface.co/,
    ],
    [
      "no repository",
      () => undefined,
      { repository: "../x" },
      /is no repository; help: write it as OWNER\/NAME/,
    ],
  ])("%s", async (_, misbehave, options, message) => {
    const { get, path } = await setUp(misbehave);
    await expect(get(options)).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
  });

  it("an architecture that is not supported, before the weights come", async () => {
    const files = tinyRepository();
    const config = { ...tinyConfig("bert"), model_type: "roberta" };
    files.set("config.json", Buffer.from(JSON.stringify(config)));
    const { get, asked } = await setUp(undefined, files);
    await expect(get()).rejects.toThrow(
      /is "roberta", which is not supported; help: .*bert and mpnet/,
    );
    expect(asked.some(({ url }) => isWeights(url))).toBe(false);
  });

  it("a host that is not there", async () => {
    const { get } = await setUp();
    await expect(get({ endpoint: await nowhere() })).rejects.toThrow(
      /^127\.0\.0\.1:\d+: refuses connections: .*; help: check the connection/,
    );
  });

  it("a folder that is a file", async () => {
    const { get, models } = await setUp();
    writeFileSync(join(models, "file"), "");
    await expect(get({ models: join(models, "file") })).rejects.toThrow(
      /cannot be written \(EEXIST\); help: name a folder that you may write to/,
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
    const { hostname } = await import("node:os");
    // No process has so high a number.
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 30 }));
    expect(await get({ onWait: () => expect.unreachable() })).toEqual({ path, changed: true });
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

function sha(files: ReadonlyMap<string, Buffer>): string {
  const { siblings } = description(files);
  const weights = siblings.find(({ rfilename }) => rfilename === WEIGHTS)!;
  return "lfs" in weights ? weights.lfs.sha256 : "";
}
