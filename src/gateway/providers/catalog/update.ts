import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../core/errors/joust-error.ts";
import { InputError } from "../../../core/input/input-error.ts";
import { replaceFile } from "../../../core/input/replace-file.ts";
import { isRecord } from "../../wire/json.ts";
import { MODELS_FILE, PRICES_FILE } from "./catalog.ts";
import { compactModels, type ModelFile } from "./model-table.ts";
import type { PriceFile } from "./price-list.ts";

/** Addresses of the catalog's sources. */
export const CATALOG_ADDRESSES = {
  models: "https://models.dev/api.json",
  prices:
    "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json",
};

export interface UpdatedCatalog {
  readonly models: { readonly date: string; readonly count: number; readonly file: string };
  readonly prices: { readonly date: string; readonly count: number; readonly file: string };
}

/**
 * Downloads both sources, checks them and writes them to a folder. If one of them cannot be read, nothing is
 * written.
 */
export async function updateCatalog(
  addresses: typeof CATALOG_ADDRESSES,
  folder: string,
  today: Date,
): Promise<UpdatedCatalog> {
  const [models, prices] = await Promise.all([
    download(addresses.models, today),
    download(addresses.prices, today),
  ]);
  const table = compactModels(models.value, addresses.models, models.date);
  const count = countOf(table);
  if (count === 0) throw unusable(addresses.models, "lists no model of a known provider");
  const list = pricesIn(prices.value, addresses.prices, prices.date);
  await mkdir(folder, { recursive: true });
  const files = { models: join(folder, MODELS_FILE), prices: join(folder, PRICES_FILE) };
  await replaceFile(files.models, JSON.stringify(table));
  await replaceFile(files.prices, JSON.stringify(list));
  const priced = list.providers.reduce((sum, { models: all }) => sum + all.length, 0);
  return {
    models: { date: table.date, count, file: files.models },
    prices: { date: list.date, count: priced, file: files.prices },
  };
}

function countOf({ models }: ModelFile): number {
  return Object.values(models).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
}

function pricesIn(value: unknown, source: string, date: string): PriceFile {
  const listed = isRecord(value) ? value.providers : value;
  const providers = (Array.isArray(listed) ? listed : []).filter(
    (one) => isRecord(one) && typeof one.id === "string" && Array.isArray(one.models),
  ) as PriceFile["providers"];
  if (providers.length === 0) throw unusable(source, "lists no provider with prices");
  return { source, date, providers };
}

/** Downloads JSON. The date is that of the file if the server tells it, otherwise today. */
async function download(url: string, today: Date): Promise<{ value: unknown; date: string }> {
  let text: string;
  let changed: string | null;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    changed = response.headers.get("last-modified");
    text = await response.text();
  } catch (error) {
    throw new InputError(
      { file: url },
      `could not be downloaded: ${messageOf(error)}`,
      "check the address and the network; the present catalog stays in use",
    );
  }
  const at = changed === null ? Number.NaN : Date.parse(changed);
  const date = new Date(Number.isNaN(at) ? today.getTime() : at).toISOString().slice(0, 10);
  try {
    return { value: JSON.parse(text), date };
  } catch (error) {
    throw unusable(url, `is not JSON: ${messageOf(error)}`);
  }
}

function unusable(url: string, problem: string): InputError {
  return new InputError(
    { file: url },
    problem,
    "check the address; the present catalog stays in use",
  );
}

const DOWNLOAD_MS = 60_000;
