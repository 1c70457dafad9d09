import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { InputError } from "../../input/input-error.ts";
import { describeWithShared, shared } from "../shared.fixture.ts";
import { WordPiece } from "./word-piece.ts";

const VOCABULARY =
  "[PAD] [UNK] [CLS] [SEP] [MASK] a b the cat un ##a ##b ##able ##cat ##s abc ab ##bc 1 ##1 12 " +
  "! ? ' ## # . é e ##e ##é Cat CAT σ ς ##σ ##ς α i ##i ß ss 東 京 ##京 𝒳 ##𝒳 [ ] - ` $ « がぎ か ##き";

/** A small tokenizer.json. Real ones differ only in size. */
function small(change: Record<string, unknown> = {}) {
  const tokens = VOCABULARY.split(" ");
  const special = tokens.slice(0, 5).map((content, id) => added(content, id, false));
  return {
    added_tokens: special,
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [
        { SpecialToken: { id: "[CLS]", type_id: 0 } },
        { Sequence: { id: "A", type_id: 0 } },
        { SpecialToken: { id: "[SEP]", type_id: 0 } },
      ],
      pair: [],
      special_tokens: {
        "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] },
        "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] },
      },
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 12,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
    ...change,
  };
}

function added(content: string, id: number, normalized: boolean) {
  return {
    id,
    content,
    normalized,
    single_word: false,
    lstrip: false,
    rstrip: false,
    special: true,
  };
}

const NASTY = [
  ..."abcABC sS \t\n\r\v\f\0\u0001\u007f\u0085\u00a0\u00ad\u200b\u2028\u3000\ufeff\ufffd",
  ..."éÉàİıßẞΣσςΑﬁÅ\u0301\u0327\u0345か\u3099き東京㐀豈がギ가각\u1100\u1161ไท\u0e31\u302e\u1734",
  ..."𝒳𠀀𠀁🤖👩\u200d💻𝟘\u{1d165}\u{10100}\u{e000}\u{f0000}\u0378",
  "\ud800",
  "\udc00",
  ..."!?'\"#$+<=>^`|~_-–—«»“”…、。٪१٣1234567890",
  ..."[CLS] [SEP] [MASK] [PAD] [UNK] [CLS [[CLS]] ## ##a unable cats abcab xyzzy".split(" "),
  ..."supercalifragilistic Straße ὈΔΥΣΣΕΎΣ ΑΣ.Α naïve".split(" "),
];
const nasty = fc.array(
  fc.oneof(
    fc.constantFrom(...NASTY),
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.string({ unit: "grapheme", maxLength: 3 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 8 }),
  ),
  { maxLength: 24 },
);
const texts = fc.tuple(nasty, fc.constantFrom("", " ")).map(([parts, glue]) => parts.join(glue));

/** Checks that random texts have the same ids as in the library. */
function expectEqualToLibrary(json: unknown, numRuns: number): void {
  const ours = WordPiece.fromTokenizerJson(json, "tokenizer.json");
  const theirs = new Tokenizer(json as object, {});
  fc.assert(
    fc.property(texts, (text) => {
      expect([...ours.encode(text, 1e6)]).toEqual(theirs.encode(text).ids);
      expect([...ours.tokenIds(text)]).toEqual(
        theirs.encode(text, { add_special_tokens: false }).ids,
      );
    }),
    { seed: 1, numRuns },
  );
}

describe("agrees with @huggingface/tokenizers on difficult texts", () => {
  const booleans = [true, false];
  const options = booleans.flatMap((clean_text) =>
    booleans.flatMap((handle_chinese_chars) =>
      booleans.flatMap((lowercase) =>
        [null, true, false].map((strip_accents) => ({
          clean_text,
          handle_chinese_chars,
          lowercase,
          strip_accents,
        })),
      ),
    ),
  );
  it.each(options)("%o", (normalizer) => {
    expectEqualToLibrary(small({ normalizer: { type: "BertNormalizer", ...normalizer } }), 100);
  });

  it("with overlapping added tokens, some of which are searched after normalisation", () => {
    const added_tokens = [
      ...small().added_tokens,
      added("[CLS", 60, false),
      added("CAT", 61, true),
      added("É1", 62, true),
      added("«", 63, true),
    ];
    expectEqualToLibrary(small({ added_tokens }), 300);
  });

  it.each(["BertProcessing", "RobertaProcessing"])("with %s", (type) => {
    const post_processor = { type, cls: ["[MASK]", 4], sep: ["[PAD]", 0] };
    expectEqualToLibrary(small({ post_processor }), 50);
  });

  it("with another prefix for continuing pieces, or none", () => {
    for (const continuing_subword_prefix of ["#", "", "ab"]) {
      expectEqualToLibrary(small({ model: { ...small().model, continuing_subword_prefix } }), 100);
    }
  });
});

describeWithShared("MiniLM's tokenizer", ["models/all-MiniLM-L6-v2", "fixtures/minilm"], () => {
  const file = shared("models/all-MiniLM-L6-v2/tokenizer.json");
  const json: unknown = JSON.parse(readFileSync(file, "utf8"));

  it("agrees with the library on difficult texts", () => expectEqualToLibrary(json, 500));

  it("returns the golden ids", () => {
    const tokenizer = WordPiece.fromTokenizerJson(json, file);
    expect(tokenizer.vocabSize).toBe(30522);
    const golden = readFileSync(shared("fixtures/minilm/texts.jsonl"), "utf8").trim().split("\n");
    expect(golden.length).toBe(59);
    for (const line of golden) {
      const { text, ids }: { text: string; ids: number[] } = JSON.parse(line);
      expect([...tokenizer.encode(text, 256)]).toEqual(ids);
    }
  });
});

describe("length", () => {
  const tokenizer = WordPiece.fromTokenizerJson(small(), "tokenizer.json");

  it("cuts the text and keeps the special tokens", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 20 }), (text, most) => {
        const whole = tokenizer.encode(text, 1e6);
        const cut = [...whole.slice(0, Math.min(most, whole.length) - 1), 3];
        expect([...tokenizer.encode(text, most)]).toEqual(cut);
      }),
      { seed: 1 },
    );
  });

  it("the ids of a text do not depend on earlier texts, even long ones", () => {
    const long = "abc [MASK] é ".repeat(5000);
    const short = [...tokenizer.tokenIds("unable cats!")];
    expect(tokenizer.tokenIds(long).length).toBe(15_000);
    expect([...tokenizer.tokenIds("unable cats!")]).toEqual(short);
    expect([...tokenizer.encode(long, 6)]).toEqual([2, 15, 4, 28, 15, 3]);
  });

  it("rejects a length without room for the special tokens", () => {
    expect(() => tokenizer.encode("a", 1)).toThrow(RangeError);
  });
});

it.each([
  ["model.type", { model: { ...small().model, type: "BPE" } }],
  ["model.vocab", { model: { ...small().model, vocab: { a: -1 } } }],
  ["model.unk_token", { model: { ...small().model, unk_token: "<unk>" } }],
  ["normalizer.type", { normalizer: { type: "NFKC" } }],
  ["normalizer", { normalizer: null }],
  ["pre_tokenizer.type", { pre_tokenizer: { type: "Metaspace" } }],
  ["post_processor.type", { post_processor: { type: "ByteLevel" } }],
  [
    "post_processor.single.0",
    {
      post_processor: {
        type: "TemplateProcessing",
        single: [{ SpecialToken: { id: "[X]" } }],
        special_tokens: {},
      },
    },
  ],
  [
    "added_tokens.0.single_word",
    { added_tokens: [{ ...added("x", 1, false), single_word: true }] },
  ],
])("rejects an unsupported tokenizer and names the field: %s", (field, change) => {
  const read = () => WordPiece.fromTokenizerJson(small(change), "tokenizer.json");
  expect(read).toThrow(InputError);
  expect(read).toThrow(errorText(`tokenizer.json: field "${field}"`));
});

it("rejects JSON that is not a tokenizer", () => {
  for (const json of [null, 1, [], {}, { model: {} }]) {
    expect(() => WordPiece.fromTokenizerJson(json, "t.json")).toThrow(
      errorText(/t\.json.*WordPiece/),
    );
  }
});
