import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorText } from "../../../errors/error-text.fixture.ts";
import { describeWithShared, shared } from "../../shared.fixture.ts";
import { weightShapes } from "./architecture.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { readModelFolder } from "./model-folder.ts";
import type { Tensor } from "./safetensors.ts";
import {
  type ModelFiles,
  safetensorsBytes,
  temporaryModels,
  tinyArchitecture,
  tinyModel,
  tinyWeights,
} from "./tiny-model.fixture.ts";

const make = temporaryModels();
const read = (files: ModelFiles, name?: string) => readModelFolder(make(files, name));

describe.each(["bert", "mpnet"] as const)("a folder of %s", (kind) => {
  it("is read completely", async () => {
    const folder = await read(tinyModel(kind), `tiny-${kind}`);
    expect(folder).toMatchObject({
      name: `tiny-${kind}`,
      architecture: tinyArchitecture(kind),
      maxLength: 12,
      pooling: "mean",
      normalize: true,
      prefix: "",
    });
    expect(folder.weights).toEqual(tinyWeights(kind));
    const [cls, sep] = kind === "bert" ? [2, 3] : [0, 2];
    // The tokenizer's own limit of 5 is ignored.
    const ids = folder.tokenizer.encode("The cats sat on a mat?", folder.maxLength);
    expect([...ids]).toEqual([cls, 4, 5, 10, 6, 7, 8, 9, 13, sep]);
  });

  it("is read if the weights belong to a model with a head", async () => {
    const head: [string, Tensor] = ["cls.bias", { dims: [2], data: Float32Array.of(1, 2) }];
    const weights = [...tinyWeights(kind)].map(
      ([name, tensor]) => [`${kind}.${name}`, tensor] as const,
    );
    const bytes = safetensorsBytes(new Map([...weights, head]));
    const folder = await read({ ...tinyModel(kind), "model.safetensors": bytes });
    expect(folder.weights).toEqual(new Map([...tinyWeights(kind), head]));
    expect(folder.namesInFile.get("embeddings.LayerNorm.bias")).toBe(
      `${kind}.embeddings.LayerNorm.bias`,
    );
  });

  it("is rejected if any weight is missing or has another shape", async () => {
    const architecture = tinyArchitecture(kind);
    const whole = tinyWeights(kind);
    const check = (weights: ReadonlyMap<string, Tensor>) => {
      const folder = make({ "model.safetensors": safetensorsBytes(weights) }, "one-off");
      return expect(readCheckpoint(folder, architecture)).rejects;
    };
    for (const [name, dims] of weightShapes(architecture)) {
      const expected = `[${dims.join(", ")}]`;
      const weights = new Map(whole);
      weights.delete(name);
      await check(weights).toThrow(errorText(`field "${name}": is missing; expected ${expected}`));
      const { data } = whole.get(name)!;
      weights.set(name, { dims: [data.length, 1], data });
      await check(weights).toThrow(
        errorText(
          `field "${name}": has shape [${data.length}, 1], but config.json makes it ${expected}`,
        ),
      );
    }
  });
});

it("weights in several files are read as one", async () => {
  const { "model.safetensors": _, ...files } = tinyModel("bert");
  const all = [...tinyWeights("bert")];
  const shards = { "model-1.safetensors": all.slice(0, 9), "model-2.safetensors": all.slice(9) };
  const weight_map = Object.fromEntries(
    Object.entries(shards).flatMap(([file, part]) => part.map(([name]) => [name, file])),
  );
  const bytes = Object.entries(shards).map(([file, part]) => [
    file,
    safetensorsBytes(new Map(part)),
  ]);
  const sharded = {
    ...files,
    ...Object.fromEntries(bytes),
    "model.safetensors.index.json": { metadata: { total_size: 1 }, weight_map },
  };
  expect((await read(sharded)).weights).toEqual(tinyWeights("bert"));

  const lost = { ...sharded, "model-2.safetensors": undefined };
  await expect(read(lost)).rejects.toThrow(errorText(/model-2.safetensors: does not exist/));
  const [name] = all.at(-1)!;
  const moved = { ...weight_map, [`${name}.more`]: "model-1.safetensors" };
  await expect(
    read({ ...sharded, "model.safetensors.index.json": { weight_map: moved } }),
  ).rejects.toThrow(
    errorText(`field "${name}.more": should be in model-1.safetensors, but is not`),
  );
  const away = { weight_map: { [name]: "../../model.safetensors" } };
  await expect(read({ ...sharded, "model.safetensors.index.json": away })).rejects.toThrow(
    errorText(/weight_map.*is not a file X\.safetensors/),
  );
});

it("accepts the old names of LayerNorm's weights", async () => {
  const renamed = [...tinyWeights("bert")].map(([name, tensor]) => {
    const old = name
      .replace("LayerNorm.weight", "LayerNorm.gamma")
      .replace("LayerNorm.bias", "LayerNorm.beta");
    return [old, tensor] as const;
  });
  const bytes = safetensorsBytes(new Map(renamed));
  const folder = await read({ ...tinyModel("bert"), "model.safetensors": bytes });
  expect(folder.weights).toEqual(tinyWeights("bert"));
});

describe("pooling and scaling follow modules.json", () => {
  const withPooling = (config: unknown) => ({
    ...tinyModel("bert"),
    "1_Pooling/config.json": config,
  });
  it.each([
    ["mean", { pooling_mode_cls_token: false, pooling_mode_mean_tokens: true }],
    ["cls", { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }],
    ["max", { pooling_mode_max_tokens: true }],
    ["mean", { pooling_mode: "mean", embedding_dimension: 8, include_prompt: true }],
    ["cls", { pooling_mode: "cls" }],
    ["max", { pooling_mode: ["max"] }],
    ["mean", {}],
  ])("%s from %j", async (pooling, config) => {
    expect((await read(withPooling(config))).pooling).toBe(pooling);
  });

  it.each([
    [
      { pooling_mode: "lasttoken" },
      /"pooling_mode": is lasttoken; hint: use a model with one of mean, cls, max/,
    ],
    [{ pooling_mode: ["mean", "cls"] }, /is mean with cls/],
    [
      { pooling_mode_mean_tokens: true, pooling_mode_weightedmean_tokens: true },
      /is mean with weightedmean/,
    ],
    [{ pooling_mode: "mean", include_prompt: false }, /"include_prompt": is false/],
  ])("rejects %j", async (config, message) => {
    await expect(read(withPooling(config))).rejects.toThrow(errorText(message));
  });

  it("without modules.json: the unscaled mean", async () => {
    const folder = await read({ ...tinyModel("bert"), "modules.json": undefined });
    expect(folder).toMatchObject({ pooling: "mean", normalize: false });
  });

  it("with the transformer in a subfolder", async () => {
    const {
      "modules.json": modules,
      "1_Pooling/config.json": pooling,
      ...rest
    } = tinyModel("bert");
    const moved = Object.entries(rest).map(([name, file]) => [`0_Transformer/${name}`, file]);
    const list = (modules as object[]).map((module, i) => {
      return i === 0 ? { ...module, path: "0_Transformer" } : module;
    });
    const folder = await read({
      ...Object.fromEntries(moved),
      "modules.json": list,
      "1_Pooling/config.json": pooling,
    });
    expect(folder).toMatchObject({ inner: "0_Transformer", normalize: true, maxLength: 12 });
  });

  it.each([
    [
      ["Transformer", "Pooling", "Dense"],
      /has the modules Transformer, Pooling, Dense; hint: use a model with/,
    ],
    [["Transformer"], /has the modules Transformer;/],
    [[], /has the modules \(none\)/],
  ])("rejects the modules %j", async (types, message) => {
    const modules = types.map((type, idx) => ({ idx, path: `${idx}`, type: `a.b.${type}` }));
    await expect(read({ ...tinyModel("bert"), "modules.json": modules })).rejects.toThrow(
      errorText(message),
    );
  });

  it("rejects a module outside the folder", async () => {
    const modules = ["Transformer", "Pooling"].map((type, idx) => ({ idx, path: "../x", type }));
    await expect(read({ ...tinyModel("bert"), "modules.json": modules })).rejects.toThrow(
      errorText(/field "\[0\]\.path": \.\.\/x leads out of the folder/),
    );
  });
});

describe("the longest text", () => {
  const limit = async (kind: "bert" | "mpnet", sentence: unknown, tokenizer: unknown) => {
    const files = { "sentence_bert_config.json": sentence, "tokenizer_config.json": tokenizer };
    return (await read({ ...tinyModel(kind), ...files })).maxLength;
  };
  it("is set by sentence_bert_config.json, else by the tokenizer, and limited by the positions", async () => {
    expect(await limit("bert", { max_seq_length: 7 }, { model_max_length: 9 })).toBe(7);
    expect(await limit("bert", { max_seq_length: null }, { model_max_length: 9 })).toBe(9);
    expect(await limit("bert", undefined, { model_max_length: 1e30 })).toBe(20);
    expect(await limit("bert", undefined, undefined)).toBe(20);
    expect(await limit("bert", { max_seq_length: 512 }, undefined)).toBe(20);
    expect(await limit("mpnet", { max_seq_length: 512 }, undefined)).toBe(18); // counts from 2
  });
});

describe("the prefix", () => {
  it("is the default prompt, else the prefix of the known model with the folder's name", async () => {
    const st = { prompts: { query: "ask: ", passage: "say: " }, default_prompt_name: "query" };
    const own = { ...tinyModel("bert"), "config_sentence_transformers.json": st };
    expect((await read(own)).prefix).toBe("ask: ");
    expect(await read(tinyModel("bert"), "e5-base")).toMatchObject({
      name: "e5b",
      prefix: "query: ",
    });
    const cache = "models--intfloat--e5-base/snapshots/0123abc";
    expect(await read(tinyModel("bert"), cache)).toMatchObject({ name: "e5b", prefix: "query: " });
    const noDefault = { prompts: { query: "ask: " }, default_prompt_name: null };
    const several = { ...tinyModel("bert"), "config_sentence_transformers.json": noDefault };
    expect((await read(several)).prefix).toBe("");
  });

  it("is rejected if it is not one of the prompts", async () => {
    const st = { prompts: {}, default_prompt_name: "query" };
    await expect(
      read({ ...tinyModel("bert"), "config_sentence_transformers.json": st }),
    ).rejects.toThrow(errorText(/"default_prompt_name": is "query", which is not in prompts/));
  });
});

describeWithShared("real checkpoints", ["models/all-MiniLM-L6-v2", "fixtures/tiny-mpnet"], () => {
  it("MiniLM: 256 tokens, scaled mean; position ids are not a weight", async () => {
    const folder = await readModelFolder(shared("models/all-MiniLM-L6-v2"));
    expect(folder).toMatchObject({
      name: "MiniLM",
      architecture: { kind: "bert", layers: 6, heads: 12, hiddenSize: 384, vocabSize: 30522 },
      maxLength: 256,
      pooling: "mean",
      normalize: true,
      prefix: "",
    });
    expect(folder.weights.has("embeddings.position_ids")).toBe(false);
    expect(folder.weights.get("pooler.dense.weight")?.dims).toEqual([384, 384]);
  });

  it.each(["bert", "mpnet"])("tiny %s, and its gradients in a second file", async (kind) => {
    const path = shared(`fixtures/tiny-${kind}`);
    const folder = await readModelFolder(path);
    expect(folder.architecture.kind).toBe(kind);
    const twin = make({ "tokenizer.json": "" });
    for (const name of ["config.json", "tokenizer.json"]) {
      copyFileSync(join(path, name), join(twin, name));
    }
    copyFileSync(join(path, "gradients.safetensors"), join(twin, "model.safetensors"));
    const gradients = await readModelFolder(twin);
    expect([...gradients.weights.keys()].toSorted()).toEqual([...folder.weights.keys()].toSorted());
  });
});
