import { z } from "zod";
import { describeIssue } from "../../input/describe-issue.ts";
import { InputError } from "../../input/input-error.ts";
import type { NormalizerOptions } from "./bert-normalizer.ts";

/** Settings of a WordPiece tokenizer, as in Hugging Face's tokenizer.json. */
export interface WordPieceSettings {
  /** tokens[id], added tokens included; "" if the id is not used. */
  readonly tokens: readonly string[];
  readonly unknown: number;
  readonly continuingPrefix: string;
  /** Longest word in characters. A longer one becomes the unknown token. */
  readonly longestWord: number;
  readonly normalizer: NormalizerOptions;
  /** Ids of the special tokens before and after every text. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly added: readonly AddedToken[];
}

/** A token that is searched for in the text before the text is split into words. */
export interface AddedToken {
  readonly content: string;
  readonly id: number;
  /** Whether to search the normalised text instead of the original. */
  readonly normalized: boolean;
}

/** A limit, because tokens are stored in an array by id. */
const LARGEST_ID = 2 ** 24;
const ID = z.int().min(0).max(LARGEST_ID);
const SPECIAL = z.tuple([z.string(), ID]);

const SHAPE = z.object({
  added_tokens: z
    .array(
      z.object({
        id: ID,
        content: z.string().min(1),
        normalized: z.boolean().default(true),
        single_word: z.literal(false).default(false),
      }),
    )
    .default([]),
  normalizer: z.object({
    type: z.literal("BertNormalizer"),
    clean_text: z.boolean().default(true),
    handle_chinese_chars: z.boolean().default(true),
    strip_accents: z.boolean().nullable().default(null),
    lowercase: z.boolean().default(true),
  }),
  pre_tokenizer: z.object({ type: z.literal("BertPreTokenizer") }),
  post_processor: z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("TemplateProcessing"),
        single: z.array(
          z.union([
            z.object({ SpecialToken: z.object({ id: z.string() }) }),
            z.object({ Sequence: z.object({ id: z.string() }) }),
          ]),
        ),
        special_tokens: z.record(z.string(), z.object({ ids: z.array(ID) })),
      }),
      z.object({ type: z.literal("BertProcessing"), cls: SPECIAL, sep: SPECIAL }),
      z.object({ type: z.literal("RobertaProcessing"), cls: SPECIAL, sep: SPECIAL }),
    ])
    .nullish(),
  model: z.object({
    type: z.literal("WordPiece"),
    // z.record would take 100 ms for 30,522 entries.
    vocab: z.custom<Record<string, number>>(isVocabulary, "not an object of token: id"),
    unk_token: z.string().default("[UNK]"),
    continuing_subword_prefix: z.string().default("##"),
    max_input_chars_per_word: z.int().min(1).default(100),
  }),
});

const SUPPORTED =
  "use a tokenizer with BertNormalizer, BertPreTokenizer, a WordPiece model and TemplateProcessing, BertProcessing or RobertaProcessing, as BERT, MiniLM, e5 and MPNet have";

/** Reads a parsed tokenizer.json. Throws an InputError for other kinds of tokenizers. */
export function readTokenizerJson(json: unknown, file: string): WordPieceSettings {
  const parsed = SHAPE.safeParse(json, { error: describeIssue });
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new InputError({ file, field: path.join(".") }, message, SUPPORTED);
  }
  const { normalizer, model, added_tokens: added, post_processor: processor } = parsed.data;
  const ids = new Map(Object.entries(model.vocab));
  for (const { content, id } of added) ids.set(content, id);
  const unknown = ids.get(model.unk_token);
  if (unknown === undefined) {
    throw new InputError(
      { file, field: "model.unk_token" },
      `is "${model.unk_token}", which is not in the vocabulary`,
      OWN_FILE,
    );
  }
  const [before, after] = specialTokensAround(processor, file);
  return {
    tokens: byId(ids),
    unknown,
    continuingPrefix: model.continuing_subword_prefix,
    longestWord: model.max_input_chars_per_word,
    normalizer: {
      cleanText: normalizer.clean_text,
      handleChineseChars: normalizer.handle_chinese_chars,
      stripAccents: normalizer.strip_accents,
      lowercase: normalizer.lowercase,
    },
    before,
    after,
    added: added.map(({ content, id, normalized }) => ({ content, id, normalized })),
  };
}

function isVocabulary(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((id) => Number.isInteger(id) && id >= 0 && id <= LARGEST_ID);
}

function byId(ids: ReadonlyMap<string, number>): string[] {
  const tokens: string[] = [];
  for (const [token, id] of ids) {
    while (tokens.length <= id) tokens.push("");
    tokens[id] = token;
  }
  return tokens;
}

const OWN_FILE = "take tokenizer.json from the model's own folder";

/** Ids that the post-processor puts before and after a text. */
function specialTokensAround(
  processor: z.infer<typeof SHAPE>["post_processor"],
  file: string,
): [before: number[], after: number[]] {
  if (!processor) return [[], []];
  if (processor.type !== "TemplateProcessing") return [[processor.cls[1]], [processor.sep[1]]];
  const around: [number[], number[]] = [[], []];
  let side = 0;
  for (const [i, part] of processor.single.entries()) {
    if ("Sequence" in part) {
      side++;
      continue;
    }
    const special = processor.special_tokens[part.SpecialToken.id];
    if (!special || side > 1) {
      throw new InputError(
        { file, field: `post_processor.single.${i}` },
        special ? "comes after a second text" : "is not among special_tokens",
        OWN_FILE,
      );
    }
    around[side as 0 | 1].push(...special.ids);
  }
  return around;
}
