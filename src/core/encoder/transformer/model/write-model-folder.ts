import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../../input/input-error.ts";
import { replaceFolder } from "../../../input/replace-folder.ts";
import type { ModelFolder } from "./model-folder.ts";
import { type Tensor, writeSafetensors } from "./safetensors.ts";

/**
 * Writes the model with new weights, as a folder that sentence-transformers loads
 * and that has the same embeddings there. `weights` uses the architecture's names;
 * missing weights keep their old values. The folder is renamed into place when it
 * is complete, and replaces a model that is already there.
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
    if (expected === undefined) throw new Error(`${folder.path} has no weight ${name}`);
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
    `exists and is not the folder of a model: it contains ${names.slice(0, 3).join(", ")}`,
    "give a new folder, or the folder of a model to replace",
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    if (error.code !== "ENOTDIR") throw error;
    throw new InputError({ file: folder }, "is a file", "give a new folder");
  });
}

/** Copies all settings except those that describe the old weights. */
async function copySettings(draft: string, folder: ModelFolder): Promise<void> {
  const from = join(folder.path, folder.inner);
  for (const name of await readdir(from)) {
    if (!COPIED.test(name)) continue;
    // copyFile would also copy read-only permissions.
    await writeFile(join(draft, folder.inner, name), await readFile(join(from, name)));
  }
  // The new weights are float32.
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

/** Uses the class names that every version of sentence-transformers knows. */
function modulesOf({ inner, normalize }: ModelFolder) {
  const paths = { Transformer: inner, Pooling: "1_Pooling", Normalize: "2_Normalize" };
  return Object.entries(paths)
    .filter(([type]) => normalize || type !== "Normalize")
    .map(([type, path], idx) => {
      return { idx, name: String(idx), path, type: `sentence_transformers.models.${type}` };
    });
}

/** Uses the flags, which old and new versions of sentence-transformers read. */
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

/** Writes `change` of the JSON in `from`, or of an empty object if that file does not exist. */
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
