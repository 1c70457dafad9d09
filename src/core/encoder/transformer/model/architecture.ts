import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJson } from "../../../input/json.ts";
import { checkShape } from "../../../input/rows.ts";

/** The fields of config.json that determine the transformer's graph. */
export interface Architecture {
  readonly kind: Kind;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly intermediateSize: number;
  /** Rows of the position table. */
  readonly positions: number;
  /** Rows of the table of token types; 0 for MPNet, which has no token types. */
  readonly typeVocabSize: number;
  readonly layerNormEps: number;
  /** The exact function, not an approximation. */
  readonly activation: "gelu";
  readonly padTokenId: number;
  /** Buckets of the relative position bias; 0 for BERT, which has no such bias. */
  readonly relativeBuckets: number;
}

export type Kind = (typeof KINDS)[number];
const KINDS = ["bert", "mpnet"] as const;

/** Largest number of tokens in a text. MPNet counts positions from padTokenId + 1. */
export function longestInput({ kind, positions, padTokenId }: Architecture): number {
  return kind === "mpnet" ? positions - padTokenId - 1 : positions;
}

/** Names (as on Hugging Face) and shapes of the weights that the forward pass needs. */
export function weightShapes(architecture: Architecture): ReadonlyMap<string, readonly number[]> {
  const { kind, vocabSize, hiddenSize: d, layers, intermediateSize, heads } = architecture;
  const shapes = new Map<string, readonly number[]>();
  const linear = (name: string, out: number, into: number) =>
    shapes.set(`${name}.weight`, [out, into]).set(`${name}.bias`, [out]);
  const norm = (name: string) => shapes.set(`${name}.weight`, [d]).set(`${name}.bias`, [d]);

  shapes.set("embeddings.word_embeddings.weight", [vocabSize, d]);
  shapes.set("embeddings.position_embeddings.weight", [architecture.positions, d]);
  if (kind === "bert") {
    shapes.set("embeddings.token_type_embeddings.weight", [architecture.typeVocabSize, d]);
  }
  norm("embeddings.LayerNorm");
  for (let i = 0; i < layers; i++) {
    const layer = `encoder.layer.${i}`;
    const { norm: attentionNorm, ...linears } = ATTENTION_NAMES[kind];
    for (const name of Object.values(linears)) linear(`${layer}.attention.${name}`, d, d);
    norm(`${layer}.attention.${attentionNorm}`);
    linear(`${layer}.intermediate.dense`, intermediateSize, d);
    linear(`${layer}.output.dense`, d, intermediateSize);
    norm(`${layer}.output.LayerNorm`);
  }
  if (kind === "mpnet") {
    shapes.set("encoder.relative_attention_bias.weight", [architecture.relativeBuckets, heads]);
  }
  return shapes;
}

/** Names of the attention weights within `encoder.layer.I.attention`. */
export const ATTENTION_NAMES = {
  bert: {
    query: "self.query",
    key: "self.key",
    value: "self.value",
    output: "output.dense",
    norm: "output.LayerNorm",
  },
  mpnet: { query: "attn.q", key: "attn.k", value: "attn.v", output: "attn.o", norm: "LayerNorm" },
} as const;

export async function readArchitecture(file: string): Promise<Architecture> {
  const json = await readJson(file, z.looseObject({ model_type: z.unknown().optional() }), HINT);
  const { model_type } = json;
  const kind = KINDS.find((known) => known === model_type);
  if (kind === undefined) {
    throw new InputError(
      { file, field: "model_type" },
      model_type === undefined
        ? "is missing"
        : `is ${JSON.stringify(model_type)}, which is not supported`,
      `use a model of type ${KINDS.join(" or ")}, such as MiniLM, e5b or mpnet`,
    );
  }
  const config = checkShape({ file }, json, CONFIG, HINT);
  const { hidden_size, num_attention_heads } = config;
  if (hidden_size % num_attention_heads !== 0) {
    throw new InputError(
      { file, field: "num_attention_heads" },
      `is ${num_attention_heads}, which does not divide hidden_size ${hidden_size}`,
      HINT,
    );
  }
  return {
    kind,
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    intermediateSize: config.intermediate_size,
    positions: config.max_position_embeddings,
    layerNormEps: config.layer_norm_eps,
    activation: config.hidden_act,
    padTokenId: config.pad_token_id,
    typeVocabSize: config.model_type === "bert" ? config.type_vocab_size : 0,
    relativeBuckets: config.model_type === "mpnet" ? config.relative_attention_num_buckets : 0,
  };
}

const HINT = "take config.json from the model's own folder";

/** Sizes have no default: a config without them belongs to another kind of model. */
const SIZE = z.number().int().positive();
const ID = z.number().int().nonnegative();
const COMMON = z.object({
  vocab_size: SIZE,
  hidden_size: SIZE,
  num_hidden_layers: SIZE,
  num_attention_heads: SIZE,
  intermediate_size: SIZE,
  max_position_embeddings: SIZE,
  layer_norm_eps: z.number().positive().default(1e-12),
  hidden_act: z.literal("gelu").default("gelu"),
  pad_token_id: ID,
});
const NO = z.literal(false).optional();
const CONFIG = z.discriminatedUnion("model_type", [
  COMMON.extend({
    model_type: z.literal("bert"),
    pad_token_id: ID.default(0),
    type_vocab_size: SIZE.default(2),
    position_embedding_type: z.literal("absolute").optional(),
    is_decoder: NO,
    add_cross_attention: NO,
  }),
  COMMON.extend({
    model_type: z.literal("mpnet"),
    pad_token_id: ID.default(1),
    relative_attention_num_buckets: SIZE.default(32),
  }),
]);
