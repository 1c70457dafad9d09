import { randomBytes } from "node:crypto";
import { InputError } from "../../core/input/input-error.ts";
import { isSecretHeader } from "../wire/secrets.ts";

/** Values of secrets by the id in their placeholder. */
export type Secrets = Readonly<Record<string, string>>;

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Text in the place of a secret. The id changes when the secret does. */
const PLACEHOLDER = /^\[secret:([0-9a-f]{12})\]$/;

const SECRET_MEMBERS = new Set(["key", "access_key", "secret_key", "session_token"]);

/** Whether the member at a path of a configuration is a secret. */
function isSecret(path: readonly string[]): boolean {
  const [section, ...rest] = path;
  if (section === "models") return path[2] === "deployments" && path.at(-1) === "key";
  if (section !== "providers") return false;
  if (rest[1] === "headers") return isSecretHeader(rest[2] ?? "");
  return rest.length === 2 && SECRET_MEMBERS.has(rest[1]!);
}

/**
 * Adds the secrets of the old value of an entry to the new one, where the new value leaves them out or only has their
 * placeholders. Another text in the place of a secret replaces it, and null removes it. `path` is the place of the
 * entry in the configuration.
 */
export function keepSecrets(
  value: JsonObject,
  before: Json | undefined,
  path: readonly string[],
): JsonObject {
  return merged(value, before, path) as JsonObject;
}

function merged(
  value: Json | undefined,
  before: Json | undefined,
  at: readonly string[],
): Json | undefined {
  if (isSecret(at)) {
    const isKept = value === undefined || value === HIDDEN;
    return isKept ? (before ?? value) : (value ?? undefined);
  }
  if (Array.isArray(value)) {
    const old: readonly Json[] = Array.isArray(before) ? before : [];
    return value.map((inner: Json, i) => {
      return merged(inner, samePlace(value, i, old), [...at, String(i)])!;
    });
  }
  if (!isObject(value) && !(value === undefined && isObject(before))) return value;
  const old = isObject(before) ? before : {};
  const names = new Set([...Object.keys(value ?? {}), ...Object.keys(old)]);
  const members = [...names].flatMap((name): [string, Json][] => {
    const inner = merged(value?.[name], old[name], [...at, name]);
    return inner === undefined ? [] : [[name, inner]];
  });
  return value === undefined && members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The old deployment that a new one replaces: the one of the same name or of the same provider and model. */
function samePlace(all: readonly Json[], i: number, old: readonly Json[]): Json | undefined {
  const id = (one: Json) => {
    const { name, provider, model } = isObject(one) ? one : {};
    return JSON.stringify(name === undefined ? [provider, model] : name);
  };
  const wanted = id(all[i]!);
  const earlier = all.slice(0, i).filter((one) => id(one) === wanted).length;
  return old.filter((one) => id(one) === wanted)[earlier];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value without its secrets. */
export interface Hidden {
  readonly value: Json;
  /** The secrets that are not stored yet. */
  readonly secrets: Secrets;
  /** Placeholders of the secrets that the value contained in the clear. */
  readonly entered: ReadonlySet<string>;
}

/**
 * Replaces the secrets of a value by placeholders. `path` is the place of the value in the configuration, `known` has
 * the stored secrets, and `placed` has their placeholders by place. A secret that is the same as the stored one in its
 * place keeps its placeholder. A placeholder in the value stands for a stored secret; it is refused outside the place
 * of that secret, because whoever copies a placeholder may not know the secret.
 */
export function hideSecrets(
  value: Json,
  path: readonly string[],
  known: Secrets,
  placed: ReadonlyMap<string, string>,
): Hidden {
  const secrets: Record<string, string> = {};
  const entered = new Set<string>();
  const hide = (inner: Json, at: readonly string[]): Json => {
    if (typeof inner !== "string") return mapMembers(inner, at, hide);
    if (PLACEHOLDER.test(inner)) {
      if (isSecret(at) && belongs(inner, at, placed)) return inner;
      throw new InputError(
        { file: "the configuration", field: at.join(".") },
        "is the placeholder of a secret that does not belong to this field",
        "enter the secret itself",
      );
    }
    if (!isSecret(at)) return inner;
    const old = placed.get(at.join("\n"));
    const isSame = old !== undefined && known[idOf(old)] === inner;
    const fresh = randomBytes(6).toString("hex");
    if (!isSame) secrets[fresh] = inner;
    const placeholder = isSame ? old : `[secret:${fresh}]`;
    entered.add(placeholder);
    return placeholder;
  };
  return { value: hide(value, path), secrets, entered };
}

/** Whether a placeholder stands in this field already. The deployments of a model may change their order. */
function belongs(
  placeholder: string,
  path: readonly string[],
  placed: ReadonlyMap<string, string>,
): boolean {
  const field = fieldOf(path);
  return [...placed].some(
    ([place, other]) => other === placeholder && fieldOf(place.split("\n")) === field,
  );
}

/** The path of a secret without the number of a deployment. */
function fieldOf([section, name, member, ...rest]: readonly string[]): string {
  const isDeployment = section === "models" && member === "deployments";
  return JSON.stringify([section, name, member, ...(isDeployment ? rest.slice(1) : rest)]);
}

/** The id in a placeholder. */
function idOf(placeholder: string): string {
  return PLACEHOLDER.exec(placeholder)![1]!;
}

/**
 * The value with its secrets in place of the placeholders. `path` is the place of the value in the configuration. A
 * placeholder in a field that holds no secret stays.
 */
export function showSecrets(value: Json, secrets: Secrets, path: readonly string[] = []): Json {
  return mapPlaceholders(value, path, (_, text) => secrets[idOf(text)] ?? text);
}

/** The placeholders of a document, by the path of their member. */
export function placeholdersIn(document: Json): Map<string, string> {
  const found = new Map<string, string>();
  mapPlaceholders(document, [], (path, placeholder) => {
    found.set(path.join("\n"), placeholder);
    return placeholder;
  });
  return found;
}

/** The secrets whose placeholders a value contains. */
export function secretsOf(value: Json, all: Secrets): Secrets {
  const ids = [...placeholdersIn(value).values()].map(idOf);
  return Object.fromEntries(ids.map((id) => [id, all[id]!]));
}

/** Replaces the placeholders of a document. `replace` gets the path and the placeholder. */
export function replacePlaceholders(
  document: Json,
  replace: (path: readonly string[], placeholder: string) => string,
): Json {
  return mapPlaceholders(document, [], replace);
}

function mapPlaceholders(
  value: Json,
  path: readonly string[],
  map: (path: readonly string[], placeholder: string) => string,
): Json {
  const visit = (inner: Json, at: readonly string[]): Json =>
    typeof inner === "string" && isSecret(at) && PLACEHOLDER.test(inner)
      ? map(at, inner)
      : mapMembers(inner, at, visit);
  return visit(value, path);
}

/** Removes secrets from a configuration that was read from a file. */
export function withoutSecrets(value: Json): Json {
  const hide = (inner: Json, at: readonly string[]): Json =>
    typeof inner === "string" && isSecret(at) ? HIDDEN : mapMembers(inner, at, hide);
  return hide(value, []);
}

/** Text in the place of a secret of a configuration that is only shown. */
const HIDDEN = "[secret]";

function mapMembers(
  value: Json,
  path: readonly string[],
  map: (inner: Json, at: readonly string[]) => Json,
): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((inner: Json, i) => map(inner, [...path, String(i)]));
  }
  const members = Object.entries(value as JsonObject);
  return Object.fromEntries(members.map(([name, inner]) => [name, map(inner, [...path, name])]));
}
