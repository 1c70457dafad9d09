import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Handler,
  newFolder,
  respond,
  setUp,
  status,
  vectors,
} from "../openai/openai.fixture.ts";

describe("the cache", () => {
  it("requests no text twice, in this process or the next, and stores neither texts nor keys", async () => {
    const cacheDir = newFolder();
    const first = await setUp([], { cacheDir });
    await first.encoder.encode(["a secret", "b"]);
    await first.encoder.encode(["b", "c"]);
    expect(first.texts()).toEqual(["a secret", "b", "c"]);
    const second = await setUp([], { cacheDir });
    const wanted = ["c", "a secret", "b"];
    expect(await second.encoder.encode(wanted)).toEqual(vectors(...wanted));
    expect(second.requests).toEqual([]);
    const stored = files(cacheDir);
    expect(stored.length).toBe(3);
    for (const path of stored) {
      expect(path + readFileSync(path, "latin1")).not.toMatch(/secret|sk-test/);
    }
  });

  it("keeps models and lengths apart", async () => {
    const cacheDir = newFolder();
    await (await setUp([], { cacheDir })).encoder.encode(["a"]);
    const other = await setUp([], { cacheDir, model: "text-embedding-3-small" });
    await other.encoder.encode(["a"]);
    expect(other.requests.length).toBe(1);
    const three: Handler = (_, response) =>
      response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 2, 3] }] }));
    const shorter = await setUp([three], { cacheDir, dimensions: 3 });
    expect(await shorter.encoder.encode(["a"])).toEqual([Float64Array.of(1, 2, 3)]);
  });

  it.each<[string, (path: string) => void]>([
    ["truncated", (path) => truncateSync(path, 9)],
    ["empty", (path) => truncateSync(path, 0)],
    ["changed in one bit", flip],
    ["something else", (path) => writeFileSync(path, "nonsense of any length")],
  ])("ignores an entry that is %s, and replaces it", async (_, spoil) => {
    const cacheDir = newFolder();
    await (await setUp([], { cacheDir })).encoder.encode(["a"]);
    spoil(files(cacheDir)[0]!);
    const { encoder, requests } = await setUp([], { cacheDir });
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(requests.length).toBe(1);
    expect(await encoder.encode(["a"])).toEqual(vectors("a"));
    expect(requests.length).toBe(1);
  });

  it("keeps the embeddings received before a failure", async () => {
    const cacheDir = newFolder();
    const many = Array.from({ length: 300 }, (_, i) => `text ${i}`);
    const options = { cacheDir, concurrency: 1 };
    const { encoder } = await setUp([respond, status(400)], options);
    await expect(encoder.encode(many)).rejects.toThrow(/400/);
    const again = await setUp([], options);
    expect(await again.encoder.encode(many)).toEqual(vectors(...many));
    expect(again.texts()).toEqual(many.slice(256));
  });

  it("rejects a folder that cannot be created, before any request", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const { encoder, requests } = await setUp([], { cacheDir: file });
    await expect(encoder.encode(["a"])).rejects.toThrow(/cannot be written \(EEXIST\)/);
    expect(requests).toEqual([]);
  });
});

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[12]! ^= 1;
  writeFileSync(path, bytes);
}
