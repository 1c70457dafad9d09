import { access, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { didYouMean } from "../../input/nearest.ts";
import { KNOWN_MODELS, type KnownModel, knownModel } from "./known-models.ts";

/** Folders of models. */
export interface ModelPlaces {
  /** Folders to search, in this order. */
  readonly search: readonly string[];
  /** Folder that downloads are written to. */
  readonly download: string;
  /** Cache of Hugging Face's own programs. It is searched last and never written. */
  readonly hubCache: string;
}

/** The search order is --models, JOUST_MODELS (one or several folders, as in PATH), the user's cache. */
export function modelPlaces(
  models: string | undefined,
  env: Environment,
  home: string,
): ModelPlaces {
  const own = join(cacheFolder(env, home), "models");
  const named = [models ?? "", ...(env.JOUST_MODELS ?? "").split(delimiter)];
  const search = [...named.filter((place) => place !== ""), own];
  // Hugging Face uses this place on every platform.
  const huggingFace =
    env.HF_HOME || join(env.XDG_CACHE_HOME || join(home, ".cache"), "huggingface");
  return { search, download: search[0]!, hubCache: env.HF_HUB_CACHE || join(huggingFace, "hub") };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's cache folder of this program. Everything in it can be made again. */
export function cacheFolder(env: Environment, home: string): string {
  return join(userCache(env, home), "joust");
}

function userCache(env: Environment, home: string): string {
  return env.XDG_CACHE_HOME || env.LOCALAPPDATA || join(home, ".cache");
}

/** Finds the folder of a model by its short name, its repository or the folder's name. */
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

/** Finds the folder that --encoder names, a path or a model. Throws an InputError that says how to get it. */
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
      : "is neither the folder of a model nor a model on this machine",
    known
      ? `run joust models get ${known.name}, set JOUST_MODELS to the folder of your models, or give the path of the model`
      : `${didYouMean(name, names)}give a folder with config.json, or one of ${names.join(", ")}`,
  );
}

/** Name of a repository's folder within a folder of models: the repository without its owner. */
export function folderOf(repository: KnownModel["repository"]): string {
  return repository.split("/").at(-1)!;
}

/** Whether the folder is meant to be a model. An incomplete one counts, so that opening it reports what is missing. */
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

/** Looks for models--OWNER--NAME/snapshots/COMMIT; refs/main holds the commit. */
async function findInHubCache(repository: string, cache: string): Promise<string | undefined> {
  const folder = join(cache, `models--${repository.replaceAll("/", "--")}`);
  const commit = await readFile(join(folder, "refs", "main"), "utf8").catch(() => undefined);
  if (commit === undefined) return undefined;
  const path = join(folder, "snapshots", commit.trim());
  return (await isModel(path)) ? path : undefined;
}
