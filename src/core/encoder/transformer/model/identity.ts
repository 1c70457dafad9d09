import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { checksum } from "../../../input/checksum.ts";
import { readPrefix } from "./model-folder.ts";
import { readModules } from "./modules.ts";

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
