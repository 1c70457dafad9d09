import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJson } from "../../../input/json.ts";

/** What config.json says about the transformer: all that decides its graph. */
export interface Architecture {
  readonly kind: Kind;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly intermediateSize: number;
  /** Rows of the table of positions. */
  readonly positions: number;
  /** Rows of the table of token types; 0 in MPNet, which has none. */
  readonly typeVocabSize: number;
  readonly layerNormEps: number;
  /** The exact one, by the error function. */
  readonly activation: "gelu";
  readonly padTokenId: number;
  /** Buckets of the relative position bias; 0 in BERT, which has none. */
  readonly relativeBuckets: number;
}

export type Kind = (typeof KINDS)[number];
const KINDS = ["bert", "mpnet"] as const;

/** The most tokens that have a position: MPNet counts positions from padTokenId + 1. */
export function longestInput({ kind, positions, padTokenId }: Architecture): number {
  return kind === "mpnet" ? positions - padTokenId - 1 : positions;
}

/** The weights that the forward pass needs, by the names of Hugging Face. */
export function weightShapes(of: Architecture): ReadonlyMap<string, readonly number[]> {
  const { kind, vocabSize, hiddenSize: d, layers, intermediateSize, heads } = of;
  const shapes = new Map<string, readonly number[]>();
  const linear = (name: string, out: number, into: number) =>
    shapes.set(`${name}.weight`, [out, into]).set(`${name}.bias`, [out]);
  const norm = (name: string) => shapes.set(`${name}.weight`, [d]).set(`${name}.bias`, [d]);

  shapes.set("embeddings.word_embeddings.weight", [vocabSize, d]);
  shapes.set("embeddings.position_embeddings.weight", [of.positions, d]);
  if (kind === "bert") shapes.set("embeddings.token_type_embeddings.weight", [of.typeVocabSize, d]);
  norm("embeddings.LayerNorm");
  for (let i = 0; i < layers; i++) {
    const layer = `encoder.layer.${i}`;
    for (const name of ATTENTION[kind].linears) linear(`${layer}.attention.${name}`, d, d);
    norm(`${layer}.attention.${ATTENTION[kind].norm}`);
    linear(`${layer}.intermediate.dense`, intermediateSize, d);
    linear(`${layer}.output.dense`, d, intermediateSize);
    norm(`${layer}.output.LayerNorm`);
  }
  if (kind === "mpnet") {
    shapes.set("encoder.relative_attention_bias.weight", [of.relativeBuckets, heads]);
  }
  return shapes;
}

const ATTENTION = {
  bert: {
    linears: ["self.query", "self.key", "self.value", "output.dense"],
    norm: "output.LayerNorm",
  },
  mpnet: { linears: ["attn.q", "attn.k", "attn.v", "attn.o"], norm: "LayerNorm" },
} as const;

export async function readArchitecture(file: string): Promise<Architecture> {
  const { model_type } = await readJson(
    file,
    z.object({ model_type: z.unknown().optional() }),
    REMEDY,
  );
  const kind = KINDS.find((known) => known === model_type);
  if (kind === undefined) {
    throw new InputError(
      { file, field: "model_type" },
      model_type === undefined
        ? "is missing"
        : `is ${JSON.stringify(model_type)}, which is not supported`,
      `the architectures supported are ${KINDS.join(" and ")}: use a model built on one of them, such as MiniLM, e5b or mpnet`,
    );
  }
  const architecture = await (kind === "bert" ? readBert(file) : readMpnet(file));
  const { hiddenSize, heads } = architecture;
  if (hiddenSize % heads === 0) return architecture;
  throw new InputError(
    { file, field: "num_attention_heads" },
    `is ${heads}, which does not divide hidden_size ${hiddenSize}`,
    REMEDY,
  );
}

async function readBert(file: string): Promise<Architecture> {
  const config = await readJson(file, BERT, REMEDY);
  const typeVocabSize = config.type_vocab_size;
  return { ...common(config), kind: "bert", typeVocabSize, relativeBuckets: 0 };
}

async function readMpnet(file: string): Promise<Architecture> {
  const config = await readJson(file, MPNET, REMEDY);
  const relativeBuckets = config.relative_attention_num_buckets;
  return { ...common(config), kind: "mpnet", typeVocabSize: 0, relativeBuckets };
}

function common(config: z.infer<typeof COMMON>) {
  return {
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    intermediateSize: config.intermediate_size,
    positions: config.max_position_embeddings,
    layerNormEps: config.layer_norm_eps,
    activation: config.hidden_act,
    padTokenId: config.pad_token_id,
  };
}

const REMEDY = "take config.json from the model's own folder";

/** Sizes without a default: a config that leaves them out is not this model's. */
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
const BERT = COMMON.extend({
  pad_token_id: ID.default(0),
  type_vocab_size: SIZE.default(2),
  position_embedding_type: z.literal("absolute").optional(),
  is_decoder: NO,
  add_cross_attention: NO,
});
const MPNET = COMMON.extend({
  pad_token_id: ID.default(1),
  relative_attention_num_buckets: SIZE.default(32),
});
