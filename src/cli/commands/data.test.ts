import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serve } from "../../core/encoder/download/http-server.fixture.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { DATA_SOURCES } from "../../lab/data/sources.ts";
import { dataCommand } from "./data.ts";

const out = dirname(temporaryFolder()("marker", ""));
afterEach(() => vi.unstubAllEnvs());

const run = (...args: string[]) =>
  dataCommand().parseAsync(["get", ...args, "--out", out], { from: "user" });

describe("joust data get", () => {
  it("requests the paths of the public server from --base, or else from JOUST_DATA_BASE", async () => {
    const requests: string[] = [];
    const base = await serve((request, response) => {
      requests.push(request.url!);
      response.writeHead(404).end();
    });
    vi.stubEnv("JOUST_DATA_BASE", `${base}/mirror/`);
    await expect(run("mmlu")).rejects.toThrow(errorText("does not exist"));
    await expect(run("mmlu", "--base", base)).rejects.toThrow(errorText("does not exist"));
    expect(requests).toEqual(["/mirror/~hendrycks/data.tar", "/~hendrycks/data.tar"]);
  });

  it("rejects content that is not the pinned one", async () => {
    const { files, folder } = DATA_SOURCES.llmrouter;
    const { path, size } = files[0]!;
    const base = await serve((_, response) => void response.end(Buffer.alloc(size!, "x")));
    await expect(run("llmrouter", "--base", base)).rejects.toThrow(
      errorText(/arrived damaged: its SHA-256 is [0-9a-f]{64}, not ad3ae701/),
    );
    expect(existsSync(join(out, folder, path))).toBe(false);
  });

  it("states the licence of every data set in its help", () => {
    let help = "";
    const command = dataCommand().configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    for (const [name, { licence }] of Object.entries(DATA_SOURCES)) {
      expect(help).toContain(name);
      expect(help).toContain(licence);
    }
  });
});
