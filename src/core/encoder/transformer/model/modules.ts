/** Reads modules.json of a sentence-transformers folder: the steps around the transformer. */
import { join, normalize, sep } from "node:path";
import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJson, readJsonIfAny } from "../../../input/json.ts";

/** Pooling of token vectors into a text's embedding: their mean, the first one, or the maximum of each coordinate. */
export type Pooling = (typeof POOLINGS)[number];
const POOLINGS = ["mean", "cls", "max"] as const;

export interface Modules {
  /** Folder of config.json, weights and tokenizer, relative to the model's folder; usually "". */
  readonly transformer: string;
  readonly pooling: Pooling;
  /** Whether embeddings are scaled to length 1. */
  readonly normalize: boolean;
}

/**
 * Reads the modules of a folder. Without modules.json, the embedding is the unscaled
 * mean, as in sentence-transformers.
 */
export async function readModules(folder: string): Promise<Modules> {
  const file = join(folder, "modules.json");
  const list = await readJsonIfAny(file, MODULES, HINT);
  if (list === undefined) return { transformer: "", pooling: "mean", normalize: false };
  const modules = list.toSorted((a, b) => a.idx - b.idx);
  // Only the name of the class is compared, because its package differs between versions.
  const kinds = modules.map(({ type }) => type.split(".").at(-1)!);
  const [transformer, pooling] = modules;
  if (!SUPPORTED.includes(kinds.join(", ")) || !transformer || !pooling) {
    throw new InputError(
      { file },
      `has the modules ${kinds.join(", ") || "(none)"}`,
      `use a model with ${SUPPORTED.join(" or ")}, in this order`,
    );
  }
  for (const [i, { path }] of modules.entries()) {
    if (!normalize(path).split(sep).includes("..")) continue;
    throw new InputError({ file, field: `[${i}].path` }, `${path} leads out of the folder`, HINT);
  }
  return {
    transformer: transformer.path,
    pooling: await readPooling(join(folder, pooling.path, "config.json")),
    normalize: modules.length === 3,
  };
}

const HINT = "take the file from the model's own folder";
const SUPPORTED = ["Transformer, Pooling", "Transformer, Pooling, Normalize"];
const MODULES = z.array(z.object({ idx: z.number(), path: z.string(), type: z.string() }));

/** New folders name the pooling mode; older ones have a flag for each mode. */
async function readPooling(file: string): Promise<Pooling> {
  const { pooling_mode, ...flags } = await readJson(file, POOLING, HINT);
  const named = pooling_mode === undefined ? [] : [pooling_mode].flat();
  const flagged = Object.entries(FLAGS).flatMap(([flag, mode]) => (flags[flag] ? [mode] : []));
  const modes = named.length > 0 ? named : flagged.length > 0 ? flagged : ["mean"];
  const pooling = POOLINGS.find((known) => known === modes[0]);
  if (pooling === undefined || modes.length > 1) {
    throw new InputError(
      { file, field: "pooling_mode" },
      `is ${modes.join(" with ")}`,
      `use a model with one of ${POOLINGS.join(", ")}`,
    );
  }
  return pooling;
}

const FLAGS: Readonly<Record<string, string>> = {
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_mean_sqrt_len_tokens: "mean_sqrt_len_tokens",
  pooling_mode_weightedmean_tokens: "weightedmean",
  pooling_mode_lasttoken: "lasttoken",
};
const POOLING = z
  .object({
    pooling_mode: z.union([z.string(), z.array(z.string()).nonempty()]).optional(),
    // false would mean that the tokens of the prefix are not pooled.
    include_prompt: z.literal(true).optional(),
  })
  .catchall(z.unknown());
