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

it.each(["bert", "mpnet"] as const)("%s: reads the new weights that were written", async (kind) => {
  const folder = await readModelFolder(make(tinyModel(kind)));
  const path = `${folder.path}-tuned`;
  const tuned = tinyWeights(kind, 2);
  await writeModelFolder(path, folder, tuned);
  const again = await readModelFolder(path);
  const { path: _, name: __, tokenizer, weights, ...settings } = again;
  expect(folder).toMatchObject(settings);
  expect(weights).toEqual(tuned);
  expect(tokenizer.encode("the cat sat", 9)).toEqual(folder.tokenizer.encode("the cat sat", 9));
});

it("keeps all other weights under the file's own names", async () => {
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

it("adds the files that sentence-transformers needs for the same embeddings", async () => {
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
    prefix: "query: ", // which can no longer be derived from the folder's name
  });
  expect(json(join(path, "config.json"))).toEqual({ ...tinyConfig("bert"), dtype: "float32" });
  expect(json(join(path, "modules.json")).map(({ type }: { type: string }) => type)).toEqual([
    "sentence_transformers.models.Transformer",
    "sentence_transformers.models.Pooling",
  ]);
  expect(existsSync(join(path, "README.md"))).toBe(false);
  expect(existsSync(join(path, "LICENSE"))).toBe(true);
});

it("replaces a model, even its own source, and leaves no temporary files", async () => {
  const folder = await readModelFolder(make(tinyModel("bert"), "alone/itself"));
  const tuned = tinyWeights("bert", 3);
  await writeModelFolder(folder.path, folder, tuned);
  expect((await readModelFolder(folder.path)).weights).toEqual(tuned);
  expect(readdirSync(dirname(folder.path))).toEqual(["itself"]);
});

it("does not replace a file or a folder of anything else", async () => {
  const folder = await readModelFolder(make(tinyModel("bert")));
  const diary = make({ "diary.txt": "dear" }, "diary");
  await expect(writeModelFolder(diary, folder, new Map())).rejects.toThrow(
    errorText(
      /exists and is not the folder of a model: it contains diary.txt; hint: give a new folder/,
    ),
  );
  await expect(writeModelFolder(join(diary, "diary.txt"), folder, new Map())).rejects.toThrow(
    /is a file/,
  );
  expect(readdirSync(diary)).toEqual(["diary.txt"]);
});

it("keeps the old model if writing fails", async () => {
  const source = await readModelFolder(make(tinyModel("bert", 2)));
  const kept = make(tinyModel("bert"), "kept/kept");
  rmSync(source.path, { recursive: true });
  await expect(writeModelFolder(kept, source, new Map())).rejects.toThrow(/ENOENT/);
  expect((await readModelFolder(kept)).weights).toEqual(tinyWeights("bert"));
  expect(readdirSync(dirname(kept))).toEqual(["kept"]);
});

it("rejects weights that the model does not have", async () => {
  const folder = await readModelFolder(make(tinyModel("bert")));
  const path = `${folder.path}-tuned`;
  const wrong = (name: string, dims: number[], length: number) =>
    writeModelFolder(path, folder, new Map([[name, { dims, data: new Float32Array(length) }]]));
  await expect(wrong("embeddings.x", [8], 8)).rejects.toThrow(/has no weight embeddings.x/);
  await expect(wrong("embeddings.LayerNorm.bias", [4], 4)).rejects.toThrow(
    /is 4, 4 numbers, not 8/,
  );
  await expect(wrong("embeddings.LayerNorm.bias", [8], 4)).rejects.toThrow(
    /is 8, 4 numbers, not 8/,
  );
  expect(existsSync(path)).toBe(false);
});
