import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { errorText } from "../../../errors/error-text.fixture.ts";
import { readModelFolder } from "./model-folder.ts";
import type { Tensor } from "./safetensors.ts";
import {
  safetensorsBytes,
  temporaryModels,
  tinyConfig,
  tinyModel,
  tinyWeights,
} from "./tiny-model.fixture.ts";
import { writeModelFolder } from "./write-model-folder.ts";

const make = temporaryModels();
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));

it.each(["bert", "mpnet"] as const)(
  "%s: what is written is read again, with the new weights",
  async (kind) => {
    const folder = await readModelFolder(make(tinyModel(kind)));
    const path = `${folder.path}-tuned`;
    const tuned = tinyWeights(kind, 2);
    await writeModelFolder(path, folder, tuned);
    const again = await readModelFolder(path);
    const { path: _, name: __, tokenizer, weights, ...settings } = again;
    expect(folder).toMatchObject(settings);
    expect(weights).toEqual(tuned);
    expect(tokenizer.encode("the cat sat", 9)).toEqual(folder.tokenizer.encode("the cat sat", 9));
  },
);

it("weights that are not given stay, those of no use to us too, by the file's own names", async () => {
  const head: [string, Tensor] = ["cls.bias", { dims: [2], data: Float32Array.of(1, 2) }];
  const prefixed = [...tinyWeights("bert")].map(([name, t]) => [`bert.${name}`, t] as const);
  const bytes = safetensorsBytes(new Map([...prefixed, head]));
  const folder = await readModelFolder(make({ ...tinyModel("bert"), "model.safetensors": bytes }));
  const path = `${folder.path}-tuned`;
  const name = "embeddings.LayerNorm.bias";
  const bias = { dims: [8], data: new Float32Array(8).fill(9) };
  await writeModelFolder(path, folder, new Map([[name, bias]]));
  const again = await readModelFolder(path);
  expect(again.weights).toEqual(new Map([...tinyWeights("bert"), head]).set(name, bias));
  expect(again.namesInFile).toEqual(folder.namesInFile);
});

it("a bare transformer gets what sentence-transformers needs to make the same vectors", async () => {
  const bare = {
    ...tinyModel("bert"),
    "config.json": { ...tinyConfig("bert"), torch_dtype: "float16" },
    "modules.json": undefined,
    "1_Pooling/config.json": undefined,
    "sentence_bert_config.json": undefined,
    "README.md": "How good the old weights are.",
    LICENSE: "Apache-2.0",
  };
  const folder = await readModelFolder(make(bare, "e5b"));
  const path = `${folder.path}-tuned`;
  await writeModelFolder(path, folder, new Map());
  expect(await readModelFolder(path)).toMatchObject({
    pooling: "mean",
    normalize: false,
    maxLength: 20,
    prefix: "query: ", // which the folder's name no longer tells
  });
  expect(json(join(path, "config.json"))).toEqual({ ...tinyConfig("bert"), dtype: "float32" });
  expect(json(join(path, "modules.json")).map(({ type }: { type: string }) => type)).toEqual([
    "sentence_transformers.models.Transformer",
    "sentence_transformers.models.Pooling",
  ]);
  expect(existsSync(join(path, "README.md"))).toBe(false);
  expect(existsSync(join(path, "LICENSE"))).toBe(true);
});

it("replaces a model, itself too, and nothing is left beside it", async () => {
  const folder = await readModelFolder(make(tinyModel("bert"), "alone/itself"));
  const tuned = tinyWeights("bert", 3);
  await writeModelFolder(folder.path, folder, tuned);
  expect((await readModelFolder(folder.path)).weights).toEqual(tuned);
  expect(readdirSync(dirname(folder.path))).toEqual(["itself"]);
});

it("refuses to write over anything else, or over a file", async () => {
  const folder = await readModelFolder(make(tinyModel("bert")));
  const diary = make({ "diary.txt": "dear" }, "diary");
  await expect(writeModelFolder(diary, folder, new Map())).rejects.toThrow(
    errorText(/exists and is not a model's folder: it holds diary.txt; hint: name a new folder/),
  );
  await expect(writeModelFolder(join(diary, "diary.txt"), folder, new Map())).rejects.toThrow(
    /is a file/,
  );
  expect(readdirSync(diary)).toEqual(["diary.txt"]);
});

it("leaves the model that was there where writing fails", async () => {
  const source = await readModelFolder(make(tinyModel("bert", 2)));
  const kept = make(tinyModel("bert"), "kept/kept");
  rmSync(source.path, { recursive: true });
  await expect(writeModelFolder(kept, source, new Map())).rejects.toThrow(/ENOENT/);
  expect((await readModelFolder(kept)).weights).toEqual(tinyWeights("bert"));
  expect(readdirSync(dirname(kept))).toEqual(["kept"]);
});

it("refuses weights that are not the model's", async () => {
  const folder = await readModelFolder(make(tinyModel("bert")));
  const path = `${folder.path}-tuned`;
  const wrong = (name: string, dims: number[], length: number) =>
    writeModelFolder(path, folder, new Map([[name, { dims, data: new Float32Array(length) }]]));
  await expect(wrong("embeddings.x", [8], 8)).rejects.toThrow(/embeddings.x is no weight/);
  await expect(wrong("embeddings.LayerNorm.bias", [4], 4)).rejects.toThrow(
    /is 4, 4 numbers, not 8/,
  );
  await expect(wrong("embeddings.LayerNorm.bias", [8], 4)).rejects.toThrow(
    /is 8, 4 numbers, not 8/,
  );
  expect(existsSync(path)).toBe(false);
});
