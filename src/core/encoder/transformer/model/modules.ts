/** What stands around the transformer in a sentence-transformers folder. */
import { join, normalize, sep } from "node:path";
import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJson, readJsonIfAny } from "../../../input/json.ts";

/** From the token vectors to the text's: their mean, the first one, or the largest of each coordinate. */
export type Pooling = (typeof POOLINGS)[number];
const POOLINGS = ["mean", "cls", "max"] as const;

export interface Modules {
  /** The folder of config.json, weights and tokenizer, relative to the model's; mostly "". */
  readonly transformer: string;
  readonly pooling: Pooling;
  /** Vectors are scaled to length 1. */
  readonly normalize: boolean;
}

/** As modules.json says; without one the mean, unscaled, as sentence-transformers has it. */
export async function readModules(folder: string): Promise<Modules> {
  const file = join(folder, "modules.json");
  const list = await readJsonIfAny(file, MODULES, REMEDY);
  if (list === undefined) return { transformer: "", pooling: "mean", normalize: false };
  const modules = list.toSorted((a, b) => a.idx - b.idx);
  // The class's own name: its package has moved from version to version.
  const kinds = modules.map(({ type }) => type.split(".").at(-1)!);
  const [transformer, pooling] = modules;
  if (!SUPPORTED.includes(kinds.join(", ")) || !transformer || !pooling) {
    throw new InputError(
      { file },
      `has the modules ${kinds.join(", ") || "(none)"}`,
      `supported are ${SUPPORTED.join(" and ")}, in this order`,
    );
  }
  for (const [i, { path }] of modules.entries()) {
    if (!normalize(path).split(sep).includes("..")) continue;
    throw new InputError({ file, field: `[${i}].path` }, `${path} leads out of the folder`, REMEDY);
  }
  return {
    transformer: transformer.path,
    pooling: await readPooling(join(folder, pooling.path, "config.json")),
    normalize: modules.length === 3,
  };
}

const REMEDY = "take the file from the model's own folder";
const SUPPORTED = ["Transformer, Pooling", "Transformer, Pooling, Normalize"];
const MODULES = z.array(z.object({ idx: z.number(), path: z.string(), type: z.string() }));

/** Written as one name, or in older folders as a flag each. */
async function readPooling(file: string): Promise<Pooling> {
  const { pooling_mode, ...flags } = await readJson(file, POOLING, REMEDY);
  const named = pooling_mode === undefined ? [] : [pooling_mode].flat();
  const flagged = Object.entries(FLAGS).flatMap(([flag, mode]) => (flags[flag] ? [mode] : []));
  const modes = named.length > 0 ? named : flagged.length > 0 ? flagged : ["mean"];
  const pooling = POOLINGS.find((known) => known === modes[0]);
  if (pooling === undefined || modes.length > 1) {
    throw new InputError(
      { file, field: "pooling_mode" },
      `is ${modes.join(" with ")}`,
      `supported is one of ${POOLINGS.join(", ")}`,
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
    // Without it the prefix's own tokens would have to be left out.
    include_prompt: z.literal(true).optional(),
  })
  .catchall(z.unknown());
