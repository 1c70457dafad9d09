import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Encoder } from "./common/encoder.ts";
import { findModel, type ModelPlaces } from "./common/find-model.ts";
import { KNOWN_MODELS, knownModelAt } from "./common/known-models.ts";
import { hashEncoder } from "./hash.ts";
import { OPENAI_TEXT } from "./openai/openai.ts";
import { openStatic } from "./static/open-static.ts";
import { readArchitecture } from "./transformer/model/architecture.ts";

export interface ListedEncoder {
  /** The value of --encoder. */
  readonly name: string;
  readonly kind: string;
  readonly dimension: number;
  readonly source: "program" | "hub" | "folder" | "api";
  /** Folder of the model; null if it is not on this machine or has no folder. */
  readonly path: string | null;
}

/** Lists the encoders that have a name, then the user's own models in the search places. */
export async function listEncoders(places: ModelPlaces): Promise<ListedEncoder[]> {
  const { encoder: table } = await openStatic();
  const known = await Promise.all(
    KNOWN_MODELS.map(async ({ name, kind, dimension }): Promise<ListedEncoder> => {
      return {
        name,
        kind,
        dimension,
        source: "hub",
        path: (await findModel(name, places)) ?? null,
      };
    }),
  );
  const own = await Promise.all(places.search.map(ownModels));
  return [
    bundled(table, "token vectors"),
    bundled(hashEncoder, "bag of words, no model"),
    ...known,
    { ...OPENAI_TEXT, kind: "OpenAI, over HTTP", source: "api", path: null },
    ...own.flat(),
  ];
}

function bundled({ name, dimension }: Encoder, kind: string): ListedEncoder {
  return { name, kind, dimension, source: "program", path: null };
}

/** Folders that hold a transformer other than the known models. */
async function ownModels(place: string): Promise<ListedEncoder[]> {
  const names = await readdir(place).catch((): string[] => []);
  const found = await Promise.all(
    names.toSorted().map(async (name): Promise<ListedEncoder[]> => {
      const path = join(place, name);
      if (knownModelAt(path) || UNFINISHED.test(name)) return [];
      const architecture = await readArchitecture(join(path, "config.json")).catch(() => undefined);
      if (!architecture) return [];
      const { kind, layers, hiddenSize } = architecture;
      const title = `${kind === "bert" ? "BERT" : "MPNet"}, ${layers} layers`;
      return [{ name, kind: title, dimension: hiddenSize, source: "folder", path }];
    }),
  );
  return found.flat();
}

/** Folders of incomplete downloads and writes. */
const UNFINISHED = /\.(download|tmp|old)$/;
