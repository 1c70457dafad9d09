import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { checksum } from "../../../input/checksum.ts";
import { InputError } from "../../../input/input-error.ts";
import { readJson, readJsonIfAny } from "../../../input/json.ts";
import { knownModelAt } from "../../common/known-models.ts";
import { WordPiece } from "../../tokenizer/word-piece.ts";
import { type Architecture, longestInput, readArchitecture } from "./architecture.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { type Pooling, readModules } from "./modules.ts";

/** Reads a transformer from a folder in the layout of Hugging Face and sentence-transformers. */

export interface ModelFolder extends Checkpoint {
  readonly path: string;
  /** Folder of config.json, weights and tokenizer, relative to `path`; usually "". */
  readonly inner: string;
  readonly name: string;
  readonly architecture: Architecture;
  readonly tokenizer: WordPiece;
  /** Largest number of tokens, special tokens included. Longer texts are cut. */
  readonly maxLength: number;
  readonly pooling: Pooling;
  /** Whether embeddings are scaled to length 1. */
  readonly normalize: boolean;
  /** Text that is put before every text to encode. */
  readonly prefix: string;
}

/** Reads and checks everything. Throws an InputError if the files do not fit together. */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const { transformer: inner, pooling, normalize } = await readModules(path);
  const folder = join(path, inner);
  const config = join(folder, "config.json");
  await access(config).catch(() => {
    throw new InputError(
      { file: path },
      "is not the folder of a model: it has no config.json",
      "give a folder with config.json, model.safetensors and tokenizer.json",
    );
  });
  const architecture = await readArchitecture(config);
  const tokenizer = await readTokenizer(folder, architecture);
  return {
    path,
    inner,
    name: knownModelAt(path)?.name ?? basename(resolve(path)),
    architecture,
    tokenizer,
    maxLength: await readMaxLength(folder, architecture),
    pooling,
    normalize,
    prefix: await readPrefix(path),
    ...(await readCheckpoint(folder, architecture)),
  };
}

const HINT = "take the file from the model's own folder";

async function readTokenizer(folder: string, { vocabSize }: Architecture): Promise<WordPiece> {
  const file = join(folder, "tokenizer.json");
  const json = await readJson(file, z.unknown(), HINT);
  const tokenizer = WordPiece.fromTokenizerJson(json, file);
  // Having fewer tokens than rows is normal: tables are padded to a round number.
  if (tokenizer.vocabSize > vocabSize) {
    throw new InputError(
      { file },
      `has ids up to ${tokenizer.vocabSize - 1}, but the model has ${vocabSize} tokens (vocab_size in config.json)`,
      "take tokenizer.json from the model's own folder",
    );
  }
  const { do_lower_case } = (await readSentenceConfig(folder)) ?? {};
  const { normalizer } = NORMALIZER.parse(json);
  if (do_lower_case && !normalizer?.lowercase) {
    throw new InputError(
      { file: join(folder, SENTENCE_CONFIG), field: "do_lower_case" },
      "is true, but the tokenizer keeps upper case",
      `set normalizer.lowercase in ${file} to true and do_lower_case to false`,
    );
  }
  return tokenizer;
}

const NORMALIZER = z.object({ normalizer: z.object({ lowercase: z.boolean() }).partial() });

/**
 * Takes the limit of sentence_bert_config.json, else of tokenizer_config.json, and
 * never more than the model has positions. The truncation in tokenizer.json is
 * ignored: MiniLM has 128 there, although the model was made for 256.
 */
async function readMaxLength(folder: string, architecture: Architecture): Promise<number> {
  const { max_seq_length } = (await readSentenceConfig(folder)) ?? {};
  const { model_max_length } =
    (await readJsonIfAny(join(folder, "tokenizer_config.json"), TOKENIZER_CONFIG, HINT)) ?? {};
  return Math.min(max_seq_length ?? model_max_length ?? Infinity, longestInput(architecture));
}

function readSentenceConfig(folder: string) {
  return readJsonIfAny(join(folder, SENTENCE_CONFIG), SENTENCE, HINT);
}

const SENTENCE_CONFIG = "sentence_bert_config.json";
const SENTENCE = z.object({
  max_seq_length: z.number().int().min(3).nullish(), // two special tokens and one token of the text
  do_lower_case: z.boolean().nullish(),
});
/** The limit need not be an integer: "no limit" is written as 1e30. */
const TOKENIZER_CONFIG = z.object({ model_max_length: z.number().min(3).nullish() });

/** Reads the default prompt of the folder's settings, else returns the prefix of a known model. */
async function readPrefix(path: string): Promise<string> {
  const file = join(path, "config_sentence_transformers.json");
  const { prompts = {}, default_prompt_name: name } = (await readJsonIfAny(file, ST, HINT)) ?? {};
  if (typeof name !== "string") return knownModelAt(path)?.prefix ?? "";
  const prefix = prompts?.[name];
  if (prefix !== undefined) return prefix;
  throw new InputError(
    { file, field: "default_prompt_name" },
    `is "${name}", which is not in prompts`,
    HINT,
  );
}

const ST = z.object({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
  truncate_dim: z.null().optional(),
});

/** SHA-256 of everything that determines a model's embeddings. Other files and the folder's place do not matter. */
export async function modelIdentity(path: string): Promise<string> {
  const { transformer: inner, ...modules } = await readModules(path);
  const folder = join(path, inner);
  const weights = (await readdir(folder)).filter((name) => name.endsWith(".safetensors")).sort();
  const files = [...FILES, ...weights].map((name) => join(folder, name)).filter(existsSync);
  const parts = [modules, await readPrefix(path), await checksum(files)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

const FILES = [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "sentence_bert_config.json",
];
