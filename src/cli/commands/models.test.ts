import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { serveHub, tinyRepository } from "../../core/encoder/download/hub.fixture.ts";
import type { ListedEncoder } from "../../core/encoder/list-encoders.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { JOUST } from "../shared/command.ts";
import { downloadLine, modelsCommand } from "./models.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "joust-models-"));
  vi.stubEnv("JOUST_MODELS", "");
  vi.stubEnv("XDG_CACHE_HOME", join(root, "cache"));
  vi.stubEnv("HF_HOME", "");
  vi.stubEnv("HF_HUB_CACHE", "");
  vi.stubEnv("HF_ENDPOINT", "");
  vi.stubEnv("HF_TOKEN", "");
  vi.stubEnv("OPENAI_API_KEY", "");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });
});

/** The output of the command. */
async function printed(...args: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await modelsCommand().parseAsync(args, { from: "user" });
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}

const listed = async (...args: string[]) =>
  JSON.parse(await printed("list", "--json", ...args)) as ListedEncoder[];

describe("list", () => {
  it("prints the folder of each encoder, or how to get it", async () => {
    const text = await printed("list");
    expect(text).toMatch(/^Encoders\nname +kind +dimension +where\n/);
    expect(text).toMatch(/^hash +bag of words, no model +384 +part of the program$/m);
    expect(text).toMatch(/^static +token vectors +256 +part of the program$/m);
    expect(text).toContain(`not downloaded: ${JOUST} models get MiniLM\n`);
    expect(text).toMatch(/^OpenAItext .* 3072 +set OPENAI_API_KEY$/m);
    vi.stubEnv("OPENAI_API_KEY", "sk-secret");
    const withKey = await printed();
    expect(withKey).toMatch(/^OpenAItext .* available: OPENAI_API_KEY is set$/m);
    expect(withKey).not.toContain("sk-secret");
  });

  it("suggests the subcommand that was probably meant", async () => {
    await expect(printed("gte")).rejects.toThrow(
      errorText(
        /gte: is not a subcommand of models; hint: did you mean "get"\? write models list, or models get NAME/,
      ),
    );
  });

  it("prints the same as JSON", async () => {
    const encoders = await listed();
    expect(encoders.find(({ name }) => name === "e5b")).toEqual({
      name: "e5b",
      kind: "BERT, 12 layers",
      dimension: 768,
      source: "hub",
      path: null,
    });
  });
});

describe("get", () => {
  it("downloads a model, which list then finds", async () => {
    const { endpoint } = await serveHub(tinyRepository());
    const path = join(root, "mine", "tiny");
    const args = [
      "get",
      "owner/tiny",
      "--endpoint",
      `${endpoint}/`,
      "--models",
      join(root, "mine"),
    ];
    expect(await printed(...args)).toBe(`owner/tiny is now in ${path}\n`);
    expect(await printed(...args)).toBe(`owner/tiny was already in ${path}\n`);
    const again = JSON.parse(await printed(...args, "--json"));
    expect(again).toEqual({ name: "owner/tiny", repository: "owner/tiny", path, changed: false });
    const encoders = await listed("--models", join(root, "mine"));
    expect(encoders.at(-1)).toEqual({
      name: "tiny",
      kind: "BERT, 2 layers",
      dimension: 8,
      source: "folder",
      path,
    });
  });

  it("takes endpoint, token and folder from the environment", async () => {
    const repository = "sentence-transformers/all-MiniLM-L6-v2";
    const { endpoint, requests } = await serveHub(tinyRepository(), undefined, repository);
    vi.stubEnv("HF_ENDPOINT", endpoint);
    vi.stubEnv("HF_TOKEN", "hf_secret");
    const path = join(root, "cache", "joust", "models", "all-MiniLM-L6-v2");
    expect(await printed("get", "minilm")).toBe(`minilm is now in ${path}\n`);
    expect(requests[0]).toMatchObject({ authorization: "Bearer hf_secret" });
    const before = requests.length;
    expect(await printed("get", "MiniLM")).toBe(`MiniLM was already in ${path}\n`);
    expect(requests.length).toBe(before);
    expect((await listed()).find(({ name }) => name === "MiniLM")?.path).toBe(path);
  });

  it("shows no progress in a pipe", async () => {
    const { endpoint } = await serveHub(tinyRepository());
    const err = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    onTestFinished(() => err.mockRestore());
    await printed("get", "owner/tiny", "--endpoint", endpoint);
    expect(err).not.toHaveBeenCalled();
  });

  it.each([
    ["MiniML", /MiniML: is not a model that can be downloaded; hint: did you mean "MiniLM"\?/],
    [
      "hash",
      /hash: is not a model that can be downloaded; hint: choose MiniLM, e5b, mpnet, or a repository/,
    ],
  ])("refuses %s", async (name, message) => {
    await expect(printed("get", name)).rejects.toThrow(errorText(message));
  });
});

it("shows progress, speed and time left in one line", () => {
  const progress = { file: "model.safetensors", done: 45e6, total: 90e6 };
  expect(downloadLine(progress, 30e6, 3000)).toBe(
    "[==========          ] 45.0/90.0 MB, 10.0 MB/s, 5 s left, model.safetensors",
  );
  expect(downloadLine(progress, 0, 0)).toBe(
    "[==========          ] 45.0/90.0 MB, model.safetensors",
  );
});
