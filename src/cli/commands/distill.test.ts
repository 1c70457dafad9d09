import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openStatic } from "../../core/encoder/static/open-static.ts";
import { STATIC_FILE } from "../../core/encoder/static/static-file.ts";
import {
  temporaryModels,
  tinyModel,
} from "../../core/encoder/transformer/model/tiny-model.fixture.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { distillCommand } from "./distill.ts";

const makeModel = temporaryModels();

async function run(...args: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const command = distillCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    await command.parseAsync(args, { from: "user" });
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}

describe("joust distill", () => {
  it.each(["bert", "mpnet"] as const)(
    "makes an encoder from %s that can be opened",
    async (kind) => {
      const model = makeModel(tinyModel(kind));
      const out = join(model, "made", "static");
      const made = JSON.parse(
        await run("--encoder", model, "--dimension", "4", "--out", out, "--json"),
      );
      expect(made).toMatchObject({ file: join(out, STATIC_FILE), tokens: 14, dimension: 4 });
      const { encoder, identity } = await openStatic(out);
      expect(identity).toBe(made.sha256);
      expect((await encoder.encode(["the cat"]))[0]!.length).toBe(4);
    },
  );

  it("describes the result and how to use it", async () => {
    const model = makeModel(tinyModel("bert"));
    const out = join(model, "out");
    const text = await run("--encoder", model, "--dimension", "8", "--out", out);
    expect(text).toMatch(/14 tokens of .*, 8 numbers per token, 0\.0 MB/);
    expect(text).toContain(`--encoder ${out}`);
  });

  it("does not replace an encoder without --overwrite", async () => {
    const model = makeModel(tinyModel("bert"));
    const out = join(model, "out");
    const args = ["--encoder", model, "--dimension", "8", "--out", out];
    await run(...args);
    const before = readFileSync(join(out, STATIC_FILE));
    await expect(run(...args)).rejects.toThrow(errorText(/already exists; hint: add --overwrite/));
    await run(...args, "--overwrite");
    expect(readFileSync(join(out, STATIC_FILE)).equals(before)).toBe(true);
  });

  it("refuses what it cannot do, with a hint, and writes nothing", async () => {
    const model = makeModel(tinyModel("bert"));
    const out = join(model, "out");
    const tooMany = run("--encoder", model, "--dimension", "9", "--out", out);
    await expect(tooMany).rejects.toThrow(InputError);
    await expect(tooMany).rejects.toThrow(errorText(/give --dimension 8 or less/));
    await expect(run("--encoder", "no-such", "--out", out)).rejects.toThrow(InputError);
    await expect(run("--encoder", model)).rejects.toThrow(errorText(/--out/));
    expect(existsSync(out)).toBe(false);
    mkdirSync(join(model, "x"));
    writeFileSync(join(model, "x", "file"), "");
    const inFile = run("--encoder", model, "--dimension", "8", "--out", join(model, "x/file/out"));
    await expect(inFile).rejects.toThrow(errorText(/cannot be written/));
  });
});
