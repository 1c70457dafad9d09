import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../../input/input-error.ts";
import { replaceFolder } from "../../../input/replace-folder.ts";
import type { ModelFolder } from "./model-folder.ts";
import { type Tensor, writeSafetensors } from "./safetensors.ts";

/**
 * The model with other weights, as a folder that sentence-transformers loads and
 * that gives the same vectors there. `weights` has the architecture's names; those
 * it leaves out stay as they were. The folder is made beside its place and moved
 * there when complete; a model that is there already is replaced.
 */
export async function writeModelFolder(
  path: string,
  folder: ModelFolder,
  weights: ReadonlyMap<string, Tensor>,
): Promise<void> {
  checkWeights(folder, weights);
  await checkPlace(path);
  const draft = `${path}.${process.pid}.tmp`;
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(join(draft, folder.inner), { recursive: true });
    await copySettings(draft, folder);
    const renamed = [...folder.namesInFile].map(([name, nameInFile]) => {
      return [nameInFile, weights.get(name) ?? folder.weights.get(name)!] as const;
    });
    await writeSafetensors(join(draft, folder.inner, "model.safetensors"), new Map(renamed));
    await replaceFolder(path, draft);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

function checkWeights(folder: ModelFolder, weights: ReadonlyMap<string, Tensor>): void {
  for (const [name, { dims, data }] of weights) {
    const expected = folder.weights.get(name)?.dims.join(" x ");
    if (expected === undefined) throw new Error(`${name} is no weight of ${folder.path}`);
    const size = dims.reduce((product, dim) => product * dim, 1);
    if (dims.join(" x ") !== expected || data.length !== size) {
      throw new Error(`${name} is ${dims.join(" x ")}, ${data.length} numbers, not ${expected}`);
    }
  }
}

async function checkPlace(path: string): Promise<void> {
  const names = await namesIn(path);
  if (names.length === 0 || names.includes("modules.json") || names.includes("config.json")) return;
  throw new InputError(
    { file: path },
    `exists and is not a model's folder: it holds ${names.slice(0, 3).join(", ")}`,
    "name a new folder, or one that holds a model to replace",
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    if (error.code !== "ENOTDIR") throw error;
    throw new InputError({ file: folder }, "is a file", "name a new folder");
  });
}

/** Everything but the weights and what tells of the old ones. */
async function copySettings(draft: string, folder: ModelFolder): Promise<void> {
  const from = join(folder.path, folder.inner);
  for (const name of await readdir(from)) {
    if (!COPIED.test(name)) continue;
    // Not copyFile, which would copy read-only permissions too.
    await writeFile(join(draft, folder.inner, name), await readFile(join(from, name)));
  }
  // The weights are float32 now, whatever they were.
  await editJson(join(draft, folder.inner, "config.json"), ({ torch_dtype, dtype, ...config }) => {
    const type = torch_dtype === undefined && dtype === undefined ? {} : { dtype: "float32" };
    return { ...config, ...type };
  });
  await editJson(join(draft, folder.inner, "sentence_bert_config.json"), (config) => {
    return { do_lower_case: false, ...config, max_seq_length: folder.maxLength };
  });
  await writeJson(join(draft, "modules.json"), modulesOf(folder));
  await mkdir(join(draft, "1_Pooling"));
  await writeJson(join(draft, "1_Pooling", "config.json"), poolingOf(folder));
  await editJson(
    join(draft, "config_sentence_transformers.json"),
    (config) => (folder.prefix === "" ? config : withPrompt(config, folder.prefix)),
    join(folder.path, "config_sentence_transformers.json"),
  );
}

const COPIED =
  /^(config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|sentence_bert_config)\.json$|^vocab\.txt$|^(LICENSE|NOTICE)/;

/** By the class names that every version knows. */
function modulesOf({ inner, normalize }: ModelFolder) {
  const paths = { Transformer: inner, Pooling: "1_Pooling", Normalize: "2_Normalize" };
  return Object.entries(paths)
    .filter(([type]) => normalize || type !== "Normalize")
    .map(([type, path], idx) => {
      return { idx, name: String(idx), path, type: `sentence_transformers.models.${type}` };
    });
}

/** The flags, which old versions read and new ones too. */
function poolingOf({ architecture, pooling }: ModelFolder) {
  return {
    word_embedding_dimension: architecture.hiddenSize,
    pooling_mode_cls_token: pooling === "cls",
    pooling_mode_mean_tokens: pooling === "mean",
    pooling_mode_max_tokens: pooling === "max",
    pooling_mode_mean_sqrt_len_tokens: false,
  };
}

function withPrompt(config: Json, prefix: string): Json {
  const prompts = typeof config.prompts === "object" ? config.prompts : {};
  return { ...config, prompts: { ...prompts, query: prefix }, default_prompt_name: "query" };
}

type Json = Record<string, unknown>;

/** Writes the file as `change` makes it from what was there, or from nothing. */
async function editJson(file: string, change: (json: Json) => Json, from = file): Promise<void> {
  const text = await readFile(from, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  await writeJson(file, change(JSON.parse(text) as Json));
}

async function writeJson(file: string, json: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(json, null, 2)}\n`);
}
