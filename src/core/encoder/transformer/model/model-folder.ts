/** A transformer in a folder as Hugging Face and sentence-transformers lay it out. */
import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJson, readJsonIfAny } from "../../../input/json.ts";
import { knownModelAt } from "../../common/known-models.ts";
import { WordPiece } from "../../tokenizer/word-piece.ts";
import { type Architecture, longestInput, readArchitecture } from "./architecture.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { type Pooling, readModules } from "./modules.ts";

export interface ModelFolder extends Checkpoint {
  readonly path: string;
  /** Of config.json, weights and tokenizer, relative to `path`; mostly "". */
  readonly inner: string;
  readonly name: string;
  readonly architecture: Architecture;
  readonly tokenizer: WordPiece;
  /** In tokens, the special ones counted; what is longer is cut. */
  readonly maxLength: number;
  readonly pooling: Pooling;
  /** Vectors are scaled to length 1. */
  readonly normalize: boolean;
  /** Set before every text. */
  readonly prefix: string;
  // `weights` and `namesInFile` are the checkpoint's.
}

/** Reads and checks everything; what does not fit is an InputError. */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const { transformer: inner, pooling, normalize } = await readModules(path);
  const folder = join(path, inner);
  const config = join(folder, "config.json");
  await access(config).catch(() => {
    throw new InputError(
      { file: path },
      "is not a model's folder: it has no config.json",
      "name a folder with config.json, model.safetensors and tokenizer.json",
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

const REMEDY = "take the file from the model's own folder";

async function readTokenizer(folder: string, { vocabSize }: Architecture): Promise<WordPiece> {
  const file = join(folder, "tokenizer.json");
  const json = await readJson(file, z.unknown(), REMEDY);
  const tokenizer = WordPiece.fromTokenizerJson(json, file);
  // Fewer tokens than rows are usual: tables are padded to a round number.
  if (tokenizer.vocabSize > vocabSize) {
    throw new InputError(
      { file },
      `has ids up to ${tokenizer.vocabSize - 1} where the model knows ${vocabSize} (config.json, vocab_size)`,
      "it is another model's: take tokenizer.json from the model's own folder",
    );
  }
  const { do_lower_case } = (await readSentenceConfig(folder)) ?? {};
  const { normalizer } = NORMALIZER.parse(json);
  if (do_lower_case && !normalizer?.lowercase) {
    throw new InputError(
      { file: join(folder, SENTENCE_CONFIG), field: "do_lower_case" },
      "is true where the tokenizer keeps capitals",
      `set normalizer.lowercase in ${file} to true and do_lower_case to false`,
    );
  }
  return tokenizer;
}

const NORMALIZER = z.object({ normalizer: z.object({ lowercase: z.boolean() }).partial() });

/**
 * sentence_bert_config.json's, else the tokenizer's, and never more than there
 * are positions. tokenizer.json's own truncation does not count: MiniLM's has
 * 128 where the model was made for 256.
 */
async function readMaxLength(folder: string, architecture: Architecture): Promise<number> {
  const { max_seq_length } = (await readSentenceConfig(folder)) ?? {};
  const { model_max_length } =
    (await readJsonIfAny(join(folder, "tokenizer_config.json"), TOKENIZER_CONFIG, REMEDY)) ?? {};
  return Math.min(max_seq_length ?? model_max_length ?? Infinity, longestInput(architecture));
}

function readSentenceConfig(folder: string) {
  return readJsonIfAny(join(folder, SENTENCE_CONFIG), SENTENCE, REMEDY);
}

const SENTENCE_CONFIG = "sentence_bert_config.json";
const SENTENCE = z.object({
  max_seq_length: z.number().int().min(3).nullish(), // two special tokens and one of the text
  do_lower_case: z.boolean().nullish(),
});
/** No integer: where there is no limit it is 1e30. */
const TOKENIZER_CONFIG = z.object({ model_max_length: z.number().min(3).nullish() });

/** The default prompt of the folder's own settings, else the one that a known model was trained with. */
export async function readPrefix(path: string): Promise<string> {
  const file = join(path, "config_sentence_transformers.json");
  const { prompts = {}, default_prompt_name: name } = (await readJsonIfAny(file, ST, REMEDY)) ?? {};
  if (typeof name !== "string") return knownModelAt(path)?.prefix ?? "";
  const prefix = prompts?.[name];
  if (prefix !== undefined) return prefix;
  throw new InputError({ file, field: "default_prompt_name" }, `"${name}" is no prompt`, REMEDY);
}

const ST = z.object({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
  truncate_dim: z.null().optional(),
});
