import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeWithShared, shared } from "../shared.fixture.ts";
import { readModelFolder } from "../transformer/model/model-folder.ts";
import { downloadModel } from "./download-model.ts";
import { serveHub } from "./hub.fixture.ts";

const FOLDER = "models/all-MiniLM-L6-v2";
const REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2";

describeWithShared("the real MiniLM from a server that fails twice", [FOLDER], () => {
  it("is downloaded without starting over, and can be read", async () => {
    const models = mkdtempSync(join(tmpdir(), "joust-hub-"));
    onTestFinished(() => rmSync(models, { recursive: true }));
    const files = filesOf(shared(FOLDER));
    let sent = 0;
    const { endpoint, requests } = await serveHub(
      files,
      ({ bytes, range }, response) => {
        if (!bytes || bytes.length < 1e6) return undefined;
        const from = Number(/\d+/.exec(range ?? "0")![0]);
        const third = bytes.subarray(from, from + Math.ceil(bytes.length / 3));
        const place = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
        const headers = { "content-length": bytes.length - from, "content-range": place };
        response.writeHead(range === undefined ? 200 : 206, headers);
        sent += third.length;
        if (from + third.length === bytes.length) return response.end(third);
        response.write(third, () => setTimeout(() => response.destroy(), 200));
        return true;
      },
      REPOSITORY,
    );
    const options = { endpoint, repository: REPOSITORY, models, sleep: async () => {} };
    const { path } = await downloadModel(options);
    for (const [name, bytes] of files)
      expect(readFileSync(join(path, name)).equals(bytes)).toBe(true);
    expect(sent).toBeLessThan(1.5 * files.get("model.safetensors")!.length);
    expect(requests.filter(({ range }) => range !== undefined).length).toBeGreaterThanOrEqual(2);
    expect(await readModelFolder(path)).toMatchObject({ name: "MiniLM", maxLength: 256 });
  });
});

function filesOf(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name));
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path)]));
}
