import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { Random } from "../../../random/random.ts";
import { type Architecture, type Kind, weightShapes } from "./architecture.ts";
import type { Tensor } from "./safetensors.ts";

/** Returns a function that writes model folders. They are removed after the tests. */
export function temporaryModels(): (files: ModelFiles, name?: string) => string {
  const root = mkdtempSync(join(tmpdir(), "joust-models-"));
  afterAll(() => rmSync(root, { recursive: true }));
  let count = 0;
  return (files, name = `model-${count++}`) => {
    for (const [file, content] of Object.entries(files)) {
      if (content === undefined) continue;
      const path = join(root, name, file);
      mkdirSync(dirname(path), { recursive: true });
      const raw = typeof content === "string" || content instanceof Uint8Array;
      writeFileSync(path, raw ? content : JSON.stringify(content));
    }
    return join(root, name);
  };
}

/** Contents by path: text, bytes, or a value to write as JSON. undefined means no file. */
export type ModelFiles = Readonly<Record<string, unknown>>;

/** The files of a small random model, with everything that a real one has. */
export function tinyModel(kind: Kind, seed = 1): ModelFiles {
  return {
    "config.json": tinyConfig(kind),
    "model.safetensors": safetensorsBytes(tinyWeights(kind, seed)),
    "tokenizer.json": tinyTokenizer(kind),
    "tokenizer_config.json": { model_max_length: 512, tokenizer_class: "BertTokenizer" },
    "sentence_bert_config.json": { max_seq_length: 12, do_lower_case: false },
    "modules.json": ["Transformer", "Pooling", "Normalize"].map((type, idx) => {
      const path = ["", "1_Pooling", "2_Normalize"][idx];
      return { idx, name: `${idx}`, path, type: `sentence_transformers.models.${type}` };
    }),
    "1_Pooling/config.json": { word_embedding_dimension: 8, pooling_mode_mean_tokens: true },
  };
}

export function tinyConfig(kind: Kind): Record<string, unknown> {
  const { hiddenSize, layers, heads, intermediateSize, positions, vocabSize } = TINY;
  return {
    model_type: kind,
    vocab_size: vocabSize,
    hidden_size: hiddenSize,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    intermediate_size: intermediateSize,
    max_position_embeddings: positions,
    hidden_act: "gelu",
    layer_norm_eps: 1e-12,
    pad_token_id: kind === "bert" ? 0 : 1,
    ...(kind === "bert" ? { type_vocab_size: 2 } : { relative_attention_num_buckets: 32 }),
  };
}

const TINY = {
  vocabSize: 16,
  hiddenSize: 8,
  layers: 2,
  heads: 2,
  intermediateSize: 12,
  positions: 20,
  layerNormEps: 1e-12,
  activation: "gelu",
} as const;

export function tinyArchitecture(kind: Kind): Architecture {
  const bert = kind === "bert";
  const own = bert
    ? { typeVocabSize: 2, relativeBuckets: 0, padTokenId: 0 }
    : { typeVocabSize: 0, relativeBuckets: 32, padTokenId: 1 };
  return { ...TINY, kind, ...own };
}

export function tinyWeights(kind: Kind, seed = 1): Map<string, Tensor> {
  const random = Random.seeded(seed);
  const tensors = [...weightShapes(tinyArchitecture(kind))].map(([name, dims]) => {
    const size = dims.reduce((product, dim) => product * dim, 1);
    const stream = random.split(name);
    return [
      name,
      { dims, data: Float32Array.from({ length: size }, () => stream.normal()) },
    ] as const;
  });
  return new Map(tensors);
}

function tinyTokenizer(kind: Kind) {
  const special =
    kind === "bert" ? ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] : ["[CLS]", "[PAD]", "[SEP]", "[UNK]"];
  const tokens = [...special, "the", "cat", "sat", "on", "a", "mat", "##s", "##ed", ".", "?"];
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const added = special.map((content) => {
    return { id: vocab[content], content, special: true, normalized: false, single_word: false };
  });
  return {
    truncation: { max_length: 5, strategy: "LongestFirst", stride: 0 },
    added_tokens: added,
    normalizer: { type: "BertNormalizer", lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "BertProcessing",
      cls: ["[CLS]", vocab["[CLS]"]],
      sep: ["[SEP]", vocab["[SEP]"]],
    },
    model: { type: "WordPiece", vocab, unk_token: "[UNK]", continuing_subword_prefix: "##" },
  };
}

/** Writes the safetensors format by hand, so that tests can change every part. */
export function safetensorsBytes(
  tensors: ReadonlyMap<string, Tensor | RawTensor>,
  { change = (header) => header, padding = 0 }: SafetensorsChange = {},
): Buffer {
  const header: SafetensorsHeader = {};
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const [name, { dims, data, ...rest }] of tensors) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const dtype = "dtype" in rest ? rest.dtype : "F32";
    header[name] = { dtype, shape: dims, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  const json = Buffer.from(JSON.stringify(change(header)) + " ".repeat(padding));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...parts]);
}

export interface RawTensor {
  readonly dtype: string;
  readonly dims: readonly number[];
  readonly data: ArrayBufferView;
}

interface SafetensorsChange {
  readonly change?: (header: SafetensorsHeader) => unknown;
  /** Spaces after the header's JSON. */
  readonly padding?: number;
}

type SafetensorsHeader = Record<
  string,
  { dtype: string; shape: readonly number[]; data_offsets: [number, number] }
>;
