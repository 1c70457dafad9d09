import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../core/errors/joust-error.ts";
import { InputError } from "../../../core/input/input-error.ts";
import type { Price } from "../upstream/usage.ts";
import { type ModelFacts, type ModelFile, ModelTable } from "./model-table.ts";
import { BUILT_IN_PRICES, type PriceFile, PriceList } from "./price-list.ts";

/** Places of the catalog: the folder of the project's data, and that of `joust catalog update`. */
export interface CatalogPlaces {
  readonly builtIn: string;
  readonly updated: string;
}

/** Knowledge about models: capabilities, limits and parameters from models.dev, prices from genai-prices. */
export interface Catalog {
  readonly models: { readonly date: string };
  readonly prices: { readonly date: string };
  price(kind: string | undefined, model: string): Price | undefined;
  facts(kind: string | undefined, model: string): ModelFacts;
  /** Names of the models of a known provider, in alphabetical order. */
  modelsOf(kind: string): readonly string[];
}

export const MODELS_FILE = "models.json";
export const PRICES_FILE = "prices.json";

/** Opens the newer of the built-in and the updated data. */
export async function openCatalog({ builtIn, updated }: CatalogPlaces): Promise<Catalog> {
  const [own, newer, prices] = await Promise.all([
    readJson<ModelFile>(join(builtIn, MODELS_FILE)),
    readJson<ModelFile>(join(updated, MODELS_FILE)),
    readJson<PriceFile>(join(updated, PRICES_FILE)),
  ]);
  if (!own) {
    throw new InputError({ file: join(builtIn, MODELS_FILE) }, "is missing", "install Joust again");
  }
  const table = new ModelTable(newer && newer.date > own.date ? newer : own);
  const isNewer = prices !== undefined && prices.date > BUILT_IN_PRICES.date;
  const list = await PriceList.open(isNewer ? prices : undefined);
  return {
    models: table,
    prices: list,
    price: (kind, model) => list.price(kind, model),
    facts: (kind, model) => table.facts(kind, model),
    modelsOf: (kind) => table.modelsOf(kind),
  };
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new InputError(
      { file },
      messageOf(error),
      "correct the permissions of the file, or delete it",
    );
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new InputError(
      { file },
      `is not JSON: ${messageOf(error)}`,
      "delete it, or run: joust catalog update",
    );
  }
}
