import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { serve } from "../../core/encoder/download/http-server.fixture.ts";
import { sendFile } from "../../core/encoder/download/hub.fixture.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { Random } from "../../core/random/random.ts";
import { type GetOptions, getData } from "./get-data.ts";
import { loadDataset } from "./load.ts";
import { DATA_SOURCES, type DataName, type PublicFile } from "./sources.ts";

const write = temporaryFolder();
let folders = 0;

/** Sends a wrong response to the request for a file and returns true, or returns undefined for the correct response. */
type Misbehave = (
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
) => true | undefined;

/** A server with these files, a source that pins them, and a function that gets them. */
async function setUp(
  name: DataName,
  contents: Readonly<Record<string, string | Buffer>>,
  { misbehave, sized = true }: { misbehave?: Misbehave; sized?: boolean } = {},
) {
  const files = new Map(Object.entries(contents).map(([path, one]) => [path, Buffer.from(one)]));
  const requests: { url: string; range: string | undefined }[] = [];
  const base = await serve((request, response) => {
    requests.push({ url: request.url!, range: request.headers.range });
    const bytes = files.get(request.url!.replace("/remote/", ""));
    if (!bytes) response.writeHead(404).end();
    else if (!misbehave?.(request, response, bytes)) {
      sendFile(bytes, request.headers.range, response);
    }
  });
  const pinned = [...files].map(([path, bytes]): PublicFile => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return {
      path,
      remote: `remote/${path}`,
      sha256,
      pin: "computed",
      ...(sized && { size: bytes.length }),
    };
  });
  const out = dirname(write(`out-${folders++}/marker`, ""));
  const source = { ...DATA_SOURCES[name], files: pinned };
  const get = (options: Partial<GetOptions> = {}) =>
    getData(name, {
      out,
      base,
      source,
      attempts: 3,
      random: Random.seeded(1),
      sleep: async () => {},
      ...options,
    });
  const folder = join(out, source.folder);
  return { get, folder, requests, source, base };
}

const FILE = "test_data_prepared.jsonl";
const TEXT = "x".repeat(5000);
const mixinstruct = (options?: Parameters<typeof setUp>[2]) =>
  setUp("mixinstruct", { [FILE]: TEXT }, options);

describe("joust data get", () => {
  it("downloads, verifies and reports each file, and does nothing the second time", async () => {
    const { get, folder, requests, source, base } = await mixinstruct();
    const path = join(folder, FILE);
    const { sha256 } = source.files[0]!;
    const url = `${base}/remote/${FILE}`;
    expect(await get()).toEqual([{ path, url, sha256, changed: true }]);
    expect(readFileSync(path, "utf8")).toBe(TEXT);
    expect(readdirSync(folder)).toEqual([FILE]);
    expect(await get()).toEqual([{ path, url, sha256, changed: false }]);
    expect(requests).toHaveLength(1);
  });

  it.each([true, false])("continues a truncated response (size pinned: %s)", async (sized) => {
    let sent = 0;
    const { get, folder, requests } = await mixinstruct({
      sized,
      misbehave: (_, response, bytes) => {
        if (sent++ > 0) return undefined;
        response.writeHead(200, { "content-length": bytes.length });
        response.write(bytes.subarray(0, 2000), () => response.destroy());
        return true;
      },
    });
    await get();
    expect(readFileSync(join(folder, FILE), "utf8")).toBe(TEXT);
    expect(requests).toHaveLength(2);
  });

  it("fails if every response is truncated, and leaves no file under the name", async () => {
    const { get, folder } = await mixinstruct({
      misbehave: (_, response, bytes) => {
        response.writeHead(200, { "content-length": 100 }).end(bytes.subarray(0, 100));
        return true;
      },
    });
    await expect(get()).rejects.toThrow(errorText("ended early"));
    expect(existsSync(join(folder, FILE))).toBe(false);
  });

  it.each([true, false])("rejects wrong bytes (size pinned: %s)", async (sized) => {
    const { get, folder } = await mixinstruct({
      sized,
      misbehave: (_, response, bytes) => {
        response.end(Buffer.from(bytes).fill("y", 0, 1));
        return true;
      },
    });
    await expect(get()).rejects.toThrow(errorText("arrived damaged: its SHA-256 is"));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names the address of a file that does not exist, and how to give another", async () => {
    const { get, source } = await mixinstruct();
    const files = [{ ...source.files[0]!, remote: "nowhere" }];
    await expect(get({ source: { ...source, files } })).rejects.toThrow(
      errorText(/\/nowhere: does not exist; hint: give the address of a copy with --base URL/),
    );
  });

  it("follows a redirect", async () => {
    const target = await serve((request, response) => {
      sendFile(Buffer.from(TEXT), request.headers.range, response);
    });
    const { get, folder } = await mixinstruct({
      misbehave: (_, response) => {
        response.writeHead(302, { location: `${target}/elsewhere` }).end();
        return true;
      },
    });
    await get();
    expect(readFileSync(join(folder, FILE), "utf8")).toBe(TEXT);
  });

  it("survives a server that closes the connection while data waits for the disk", async () => {
    await fetch("data:,"); // the package undici takes over the agent of Node's fetch if that was used first
    const bytes = Buffer.alloc(4_000_000, "z");
    const server = createServer((socket) => {
      socket.once("data", () => {
        socket.write(`HTTP/1.0 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
        socket.end(bytes);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { get, folder } = await setUp("mixinstruct", { [FILE]: bytes });
    await get({ base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(readFileSync(join(folder, FILE)).equals(bytes)).toBe(true);
  });

  it("replaces a file with other content only with overwrite", async () => {
    const { get, folder, requests } = await mixinstruct();
    mkdirSync(folder);
    writeFileSync(join(folder, FILE), "mine");
    await expect(get()).rejects.toThrow(errorText("exists with other content"));
    expect(readFileSync(join(folder, FILE), "utf8")).toBe("mine");
    expect(requests).toEqual([]);
    await get({ overwrite: true });
    expect(readFileSync(join(folder, FILE), "utf8")).toBe(TEXT);
  });

  it("rejects an invalid address", async () => {
    const { get } = await mixinstruct();
    await expect(get({ base: "mirror" })).rejects.toThrow(errorText('--base: is "mirror"'));
  });
});

describe("the files made from downloads", () => {
  it("routerbench: the prompts of the seven benchmarks, once the pickle was converted", async () => {
    const { get, folder } = await setUp("routerbench", { "routerbench_0shot.pkl": "pickle" });
    expect(await get()).toHaveLength(1);
    const row = (id: string, eval_name: string) => {
      const scores = { a: 1, b: 0, "a|total_cost": 0, "b|total_cost": 0 };
      return JSON.stringify({ sample_id: id, prompt: [`ask ${id}`], eval_name, ...scores });
    };
    const rows = [row("1", "mmlu-law"), row("2", "consensus_summary"), row("3", "mtbench-math")];
    writeFileSync(join(folder, "routerbench_0shot.jsonl"), rows.join("\n"));
    const [, made] = await get();
    const { categories, queries } = await loadDataset(made!.path, { unscored: true });
    expect(categories).toEqual(["mmlu", "mt-bench"]);
    expect(queries.map(({ text }) => text)).toEqual(["ask 1", "ask 3"]);
  });

  it("mmlu: the csv files of data.tar, which can be read as the paper's data", async () => {
    const question = "What is 2 + 2?,1,2,3,4,D\n";
    const tar = tarOf({
      "data/README.txt": "about",
      "data/test/anatomy_test.csv": question,
      "data/dev/anatomy_dev.csv": question.repeat(40),
      "data/auxiliary_train/law.csv": "left out",
    });
    const { get, folder } = await setUp("mmlu", { "data.tar": tar });
    expect((await get()).map(({ path }) => path)).toEqual(
      ["data.tar", "test/anatomy_test.csv", "dev/anatomy_dev.csv"].map((one) => join(folder, one)),
    );
    const { queries } = await loadDataset(folder, { unscored: true });
    expect(queries).toHaveLength(41);
    writeFileSync(join(folder, "test/anatomy_test.csv"), "mine");
    await expect(get()).rejects.toThrow(errorText("exists with other content"));
  });

  it("mmlu: an archive without questions or with a wrong size is rejected", async () => {
    const empty = await setUp("mmlu", { "data.tar": tarOf({ "data/README.txt": "about" }) });
    await expect(empty.get()).rejects.toThrow(errorText("has no data/test/*.csv"));
    const short = tarOf({ "data/test/anatomy_test.csv": "x".repeat(2000) }).subarray(0, 1024);
    const damaged = await setUp("mmlu", { "data.tar": short });
    await expect(damaged.get()).rejects.toThrow(errorText("is damaged at byte 0"));
  });

  it("llmrouter: the scores with the task of each query, in one file", async () => {
    const scored = (question: string, score: number) => ({ question, scores: { a: score, b: 1 } });
    const task = (query: string, name: string) => JSON.stringify({ query, task_name: name });
    const { get, folder } = await setUp("llmrouter", {
      "train.json": JSON.stringify([scored("q1", 0.5), scored("q2", 0)]),
      "test.json": JSON.stringify([scored("q3", 1)]),
      "default_query_train.jsonl": `${task("q1", "math")}\n${task("q2", "law")}\n`,
      "default_query_test.jsonl": `${task("q3", "law")}\n`,
    });
    await get();
    const loaded = await loadDataset(join(folder, "llmrouter_9models.jsonl"));
    expect(loaded.categories).toEqual(["math", "law"]);
    expect(loaded.queries.map(({ text, scores }) => [text, ...scores!])).toEqual([
      ["q1", 0.5, 1],
      ["q2", 0, 1],
      ["q3", 1, 1],
    ]);
  });
});

it("every pinned file has a checksum, a name of its own and an address below its server", () => {
  for (const { files, base } of Object.values(DATA_SOURCES)) {
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    for (const { sha256, remote } of files) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(new URL(`${base}/${remote}`).pathname).toBe(`/${remote}`);
    }
  }
});

/** A tar archive as `tar cf` writes it, without the fields that nothing reads. */
function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("ustar\0", 257);
    const body = Buffer.alloc(512 * Math.ceil(content.length / 512));
    body.write(content);
    return [header, body];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}
