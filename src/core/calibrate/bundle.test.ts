import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { InputError } from "../input/input-error.ts";
import { CONTENTS } from "./bundle.fixture.ts";
import { type Bundle, bundleText, isBundle, poolOfBundle, readBundle } from "./bundle.ts";
import { checkTarget, writeBundle } from "./write-bundle.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-bundle-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Writes a bundle with weights of its own. */
async function written(contents = CONTENTS): Promise<string> {
  const folder = join(newFolder(), "deep", "bundle");
  await writeBundle(folder, contents, {
    saveEncoder: async (encoder) => {
      await mkdir(join(encoder, "1_Pooling"), { recursive: true });
      await writeFile(join(encoder, "1_Pooling", "config.json"), "{}");
      await writeFile(join(encoder, "weights"), "0123");
    },
  });
  return folder;
}

describe("a bundle", () => {
  it("is read as it was written, to the last bit, and no temporary files are left", async () => {
    const folder = await written();
    const { files, ...rest } = await readBundle(folder);
    expect(rest).toEqual(CONTENTS);
    expect(Object.keys(files)).toEqual(["encoder/1_Pooling/config.json", "encoder/weights"]);
    expect(readdirSync(join(folder, ".."))).toEqual(["bundle"]);
    expect(isBundle(folder)).toBe(true);
  });

  it("keeps the errors of scores, of which some are unknown", async () => {
    const errors = Float64Array.of(0.1, Number.NaN);
    const [first, ...rest] = CONTENTS.models;
    const folder = await written({ ...CONTENTS, models: [{ ...first!, errors }, ...rest] });
    const bundle = await readBundle(folder);
    expect(bundle.models[0]!.errors).toEqual(errors);
    expect(poolOfBundle(bundle).toldErrors).toEqual([
      errors,
      ...rest.map(() => Float64Array.of(Number.NaN, Number.NaN)),
    ]);
    expect(poolOfBundle(await readBundle(await written())).toldErrors).toBeUndefined();
  });

  it("is the same file for the same numbers", async () => {
    const [one, two] = [await written(), await written()];
    const text = (folder: string) => readFileSync(join(folder, "bundle.json"), "utf8");
    expect(text(one)).toBe(text(two));
  });

  it("is replaced only with overwrite, and a folder that is not a bundle never is", async () => {
    const folder = await written();
    const before = readFileSync(join(folder, "bundle.json"), "utf8");
    await expect(writeBundle(folder, CONTENTS, {})).rejects.toThrow(
      errorText(/already; hint: .*--overwrite/),
    );
    expect(readFileSync(join(folder, "bundle.json"), "utf8")).toBe(before);
    await writeBundle(folder, { ...CONTENTS, name: "other" }, { overwrite: true });
    expect((await readBundle(folder)).name).toBe("other");
    expect(existsSync(join(folder, "encoder"))).toBe(false);
    expect(readdirSync(join(folder, ".."))).toEqual(["bundle"]);

    const home = newFolder();
    expect(() => checkTarget(home, true)).toThrow(
      errorText(/exists and is not a bundle; hint: give a new/),
    );
  });

  it("is unchanged if writing fails", async () => {
    const folder = await written();
    const saveEncoder = () => Promise.reject(new Error("disk on fire"));
    const failed = writeBundle(folder, CONTENTS, { overwrite: true, saveEncoder });
    await expect(failed).rejects.toThrow(errorText("disk on fire"));
    expect(readdirSync(join(folder, ".."))).toEqual(["bundle"]);
    await readBundle(folder);
  });

  it("cannot be written into a file, and the error has a hint", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const failed = writeBundle(join(file, "bundle"), CONTENTS, {});
    await expect(failed).rejects.toThrow(InputError);
  });
});

describe("a damaged bundle", () => {
  const { categories, models, offline, encoder } = CONTENTS;
  const changes: [string, Partial<Record<keyof Bundle, unknown>>, RegExp][] = [
    ["another schema", { schema: 2 }, /"schema": is 2, but this version reads 1; hint: fit again/],
    ["no models", { models: undefined }, /"models": is missing; hint:/],
    [
      "NaN",
      { categories: [{ name: "x", xi: [Number.NaN, 1] }] },
      /"categories\[0\].xi\[0\]": is null/,
    ],
    [
      "a short vector",
      { categories: [categories[0], { name: "y", xi: [1] }] },
      /"categories\[1\].xi": has 1 numbers, but embeddings of the encoder have 2; hint:/,
    ],
    [
      "another dimension",
      { encoder: { ...encoder, dimension: 3 } },
      /"categories\[0\].xi": has 2 numbers, but embeddings of the encoder have 3/,
    ],
    [
      "a short row of scores",
      { models: [{ ...models[0], scores: [1] }, models[1]] },
      /"models\[0\].scores": has 1 numbers, but the number of categories is 2/,
    ],
    [
      "an offline query with an unknown category",
      { offline: [{ ...offline[0], category: 2 }] },
      /"offline\[0\].category": is 2, but there are 2 categories, counted from 0/,
    ],
    [
      "an unknown weighting",
      { settings: { weighting: "best" } },
      /"settings.weighting": is "best"/,
    ],
  ];
  it.each(changes)("%s", async (_, change, message) => {
    const folder = await written();
    const text = bundleText({ ...CONTENTS, files: {}, ...change } as Bundle);
    writeFileSync(join(folder, "bundle.json"), text);
    const error = await readBundle(folder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toEqual(errorText(message));
  });

  it("is rejected if a digit is changed, or a file is truncated or missing", async () => {
    const folder = await written();
    const file = join(folder, "bundle.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("0.9", "0.8"));
    await expect(readBundle(folder)).rejects.toThrow(
      errorText(/bundle.json: was changed: its checksum/),
    );
    writeFileSync(file, text.slice(0, 100));
    await expect(readBundle(folder)).rejects.toThrow(
      errorText(/bundle.json: is not JSON .*; hint:/),
    );
    writeFileSync(file, text);
    writeFileSync(join(folder, "encoder", "weights"), "012");
    await expect(readBundle(folder)).rejects.toThrow(errorText(/encoder.weights: was changed/));
    await rm(join(folder, "encoder", "weights"));
    await expect(readBundle(folder)).rejects.toThrow(errorText(/encoder.weights: does not exist/));
    await rm(file);
    await expect(readBundle(folder)).rejects.toThrow(errorText(/bundle.json: does not exist/));
    expect(isBundle(folder)).toBe(false);
  });
});
