import { describe, expect, it } from "vitest";
import { errorText } from "../../../errors/error-text.fixture.ts";
import { readModelFolder } from "./model-folder.ts";
import type { Tensor } from "./safetensors.ts";
import {
  type ModelFiles,
  type RawTensor,
  safetensorsBytes,
  temporaryModels,
  tinyConfig,
  tinyModel,
  tinyWeights,
} from "./tiny-model.fixture.ts";

const make = temporaryModels();
const read = (files: ModelFiles) => readModelFolder(make(files));

describe("rejects", () => {
  const config = (change: object) => ({
    ...tinyModel("bert"),
    "config.json": { ...tinyConfig("bert"), ...change },
  });
  const weights = (name: string, tensor: Tensor | RawTensor) => ({
    ...tinyModel("bert"),
    "model.safetensors": safetensorsBytes(
      new Map<string, Tensor | RawTensor>([...tinyWeights("bert"), [name, tensor]]),
    ),
  });
  const tokenizer = tinyModel("bert")["tokenizer.json"] as { model: { vocab: object } };
  const nan = Float32Array.of(1, 2, 3, 4, 5, 6, 7, Number.NaN);
  it.each<[string, ModelFiles, RegExp]>([
    [
      "a folder without a model",
      { "README.md": "hello" },
      /is not the folder of a model: it has no config.json/,
    ],
    [
      "another architecture",
      config({ model_type: "roberta" }),
      /"model_type": is "roberta", which is not supported; hint: use a model of type bert or mpnet/,
    ],
    [
      "no architecture",
      config({ model_type: undefined }),
      /"model_type": is missing; hint: use a model of type bert or mpnet/,
    ],
    [
      "another activation",
      config({ hidden_act: "relu" }),
      /"hidden_act": is "relu", not one of "gelu"/,
    ],
    [
      "relative positions in BERT",
      config({ position_embedding_type: "relative_key" }),
      /"position_embedding_type": is "relative_key"/,
    ],
    ["a decoder", config({ is_decoder: true }), /"is_decoder": is true/],
    ["a missing size", config({ hidden_size: undefined }), /"hidden_size": is missing/],
    [
      "a size that is not a number",
      config({ hidden_size: "8" }),
      /"hidden_size": is "8", not of type number/,
    ],
    [
      "heads that do not divide the hidden size",
      config({ num_attention_heads: 3 }),
      /is 3, which does not divide hidden_size 8/,
    ],
    [
      "more layers than weights",
      config({ num_hidden_layers: 3 }),
      /"encoder.layer.2.attention.self.query.weight": is missing; expected \[8, 8\]/,
    ],
    [
      "a config that is not JSON",
      { ...tinyModel("bert"), "config.json": "{" },
      /config.json: is not JSON/,
    ],
    [
      "a quantised weight",
      weights("embeddings.LayerNorm.bias", { dtype: "I8", dims: [8], data: new Int8Array(8) }),
      /has type I8 instead of a float \[8\]/,
    ],
    [
      "a weight that is not finite",
      weights("embeddings.LayerNorm.bias", { dims: [8], data: nan }),
      /"embeddings.LayerNorm.bias": contains a number that is not finite/,
    ],
    [
      "a repeated weight",
      weights("bert.embeddings.LayerNorm.bias", { dims: [8], data: nan }),
      /is the same weight as embeddings.LayerNorm.bias/,
    ],
    [
      "no weights",
      { ...tinyModel("bert"), "model.safetensors": undefined },
      /model.safetensors: does not exist; hint: copy or download the model again/,
    ],
    [
      "weights in PyTorch's own format",
      { ...tinyModel("bert"), "model.safetensors": undefined, "pytorch_model.bin": "x" },
      /pytorch_model.bin is in PyTorch's own format/,
    ],
    [
      "no tokenizer",
      { ...tinyModel("bert"), "tokenizer.json": undefined },
      /tokenizer.json: does not exist/,
    ],
    [
      "another kind of tokenizer",
      { ...tinyModel("bert"), "tokenizer.json": { ...tokenizer, model: { type: "BPE" } } },
      /tokenizer.json: field "model/,
    ],
    [
      "a tokenizer of another model",
      {
        ...tinyModel("bert"),
        "tokenizer.json": {
          ...tokenizer,
          model: { ...tokenizer.model, vocab: { ...tokenizer.model.vocab, more: 16 } },
        },
      },
      /has ids up to 16, but the model has 16 tokens/,
    ],
    [
      "lower case that the tokenizer does not produce",
      {
        ...tinyModel("bert"),
        "tokenizer.json": {
          ...tokenizer,
          normalizer: { type: "BertNormalizer", lowercase: false },
        },
        "sentence_bert_config.json": { do_lower_case: true },
      },
      /"do_lower_case": is true, but the tokenizer keeps upper case/,
    ],
    [
      "truncated embeddings",
      { ...tinyModel("bert"), "config_sentence_transformers.json": { truncate_dim: 4 } },
      /"truncate_dim": is 4/,
    ],
  ])("%s", async (_, files, message) => {
    await expect(read(files)).rejects.toThrow(errorText(message));
  });

  it("a folder that does not exist", async () => {
    await expect(readModelFolder("no/such/folder")).rejects.toThrow(
      errorText(/no\/such\/folder: is not the folder of a model/),
    );
  });
});
