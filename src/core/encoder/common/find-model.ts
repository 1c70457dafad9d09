import { access, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { didYouMean } from "../../input/nearest.ts";
import { KNOWN_MODELS, type KnownModel, knownModel } from "./known-models.ts";

/** Where model folders are looked for, and where a download goes. */
export interface ModelPlaces {
  /** In this order. */
  readonly search: readonly string[];
  readonly download: string;
  /** The cache of Hugging Face's own programs, searched last and never written. */
  readonly hubCache: string;
}

/** --models, JOUST_MODELS (which may name several, as PATH does), the user's cache. */
export function modelPlaces(
  models: string | undefined,
  env: Environment,
  home: string,
): ModelPlaces {
  const own = join(cacheFolder(env, home), "models");
  const named = [models ?? "", ...(env.JOUST_MODELS ?? "").split(delimiter)];
  const search = [...named.filter((place) => place !== ""), own];
  // On every platform it is there.
  const huggingFace =
    env.HF_HOME || join(env.XDG_CACHE_HOME || join(home, ".cache"), "huggingface");
  return { search, download: search[0]!, hubCache: env.HF_HUB_CACHE || join(huggingFace, "hub") };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What this program keeps for its user, and can make again. */
export function cacheFolder(env: Environment, home: string): string {
  return join(userCache(env, home), "joust");
}

function userCache(env: Environment, home: string): string {
  return env.XDG_CACHE_HOME || env.LOCALAPPDATA || join(home, ".cache");
}

/** The folder of a model that is there: by our name, by its repository's, or by the folder's own. */
export async function findModel(name: string, places: ModelPlaces): Promise<string | undefined> {
  const known = knownModel(name);
  const repository = known?.repository ?? name;
  const names = [
    ...new Set([folderOf(repository), name, ...(known ? [known.name, repository] : [])]),
  ];
  for (const place of places.search) {
    for (const folder of names) {
      const path = join(place, folder);
      if (await isModel(path)) return path;
    }
  }
  return findInHubCache(repository, places.hubCache);
}

/** The folder that --encoder means, a path or a name; an InputError that says how to get it where it is not. */
export async function locateModel(name: string, places: ModelPlaces): Promise<string> {
  if (await isModel(name)) return name;
  const found = await findModel(name, places);
  if (found !== undefined) return found;
  const known = knownModel(name);
  const names = KNOWN_MODELS.map((model) => model.name);
  throw new InputError(
    { file: name },
    known
      ? `is in none of ${places.search.join(", ")}`
      : "is neither a model's folder nor the name of a model that is here",
    known
      ? `joust models get ${known.name}, set JOUST_MODELS to the folder that holds its own, or give that itself`
      : `${didYouMean(name, names)}name a folder with config.json, or one of ${names.join(", ")}`,
  );
}

/** Where a download of the repository goes, within a folder of models: its name without the owner. */
export function folderOf(repository: KnownModel["repository"]): string {
  return repository.split("/").at(-1)!;
}

/** Without a file of weights too: a folder that is half there is complained about, not passed over. */
async function isModel(path: string): Promise<boolean> {
  for (const file of ["config.json", "modules.json"]) {
    const found = await access(join(path, file)).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

/** models--OWNER--NAME/snapshots/COMMIT, where refs/main holds the commit. */
async function findInHubCache(repository: string, cache: string): Promise<string | undefined> {
  const folder = join(cache, `models--${repository.replaceAll("/", "--")}`);
  const commit = await readFile(join(folder, "refs", "main"), "utf8").catch(() => undefined);
  if (commit === undefined) return undefined;
  const path = join(folder, "snapshots", commit.trim());
  return (await isModel(path)) ? path : undefined;
}
