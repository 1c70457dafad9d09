import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from "yaml";
import { z } from "zod";
import { messageOf } from "../../core/errors/joust-error.ts";
import { describeIssue } from "../../core/input/describe-issue.ts";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { PACKAGE_ROOT } from "../../core/input/project.ts";
import { rememberSecrets } from "../wire/secrets.ts";
import { CONFIG, type Config, decoded, type Environment } from "./config.ts";
import { type Fault, faultsBetween, objectOf } from "./references.ts";

/** Reads and checks joust.yaml. Errors have file, line and member. */
export async function readConfig(
  file: string,
  env: Environment,
  providers: readonly string[],
): Promise<Config> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const problem = error.code === "ENOENT" ? "the file does not exist" : error.message;
    throw new InputError({ file }, problem, "give --config an existing file, or leave it out");
  });
  return parseConfig(text, file, env, providers);
}

/** `providers` are the names of the providers that need no entry. */
export function parseConfig(
  text: string,
  file: string,
  env: Environment,
  providers: readonly string[],
): Config {
  const yaml = new YamlText(text);
  const { error } = yaml;
  if (error) {
    const problem = `is not valid YAML: ${error.problem}`;
    throw new InputError({ file, line: error.line }, problem, "correct the line");
  }
  const missing: Fault[] = [];
  const filled = fill(yaml.value ?? {}, env, [], missing);
  return checkConfig(filled, file, providers, missing, (path) => yaml.lineOf(path));
}

/**
 * Checks a configuration by the schema and for faults between its members. Throws ConfigError with all faults.
 * `missing` are faults that were found before.
 */
export function checkConfig(
  value: unknown,
  file: string,
  providers: readonly string[],
  missing: readonly Fault[] = [],
  lineOf: (path: readonly PropertyKey[]) => number | undefined = () => undefined,
): Config {
  const parsed = CONFIG.safeParse(value, { error: describeWithoutSecrets });
  // A member that has a fault already is not reported again for a consequence of that fault.
  const besides = (found: readonly Fault[], more: Iterable<Fault>) => {
    const paths = new Set(found.map(({ path }) => path.join()));
    return [...found, ...[...more].filter(({ path }) => !paths.has(path.join()))];
  };
  const invalid = besides(
    missing,
    parsed.error?.issues.flatMap((issue) => faultsOf(issue, value)) ?? [],
  );
  const faults = besides(invalid, faultsBetween(parsed.data ?? value, providers));
  const [first, ...others] = faults
    .map((fault) => ({ ...fault, line: lineOf(fault.path) }))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (!first) {
    rememberSecrets(secretsOf(parsed.data!));
    return parsed.data!;
  }
  throw new ConfigError(file, first, others, restOf(value, [first, ...others], providers));
}

/**
 * The configuration without the entries that have faults and those that refer to them, so that a check can find the
 * faults that only building the rest shows. Undefined if no model would be left.
 */
function restOf(
  value: unknown,
  faults: readonly Fault[],
  providers: readonly string[],
): Config | undefined {
  let rest = { ...objectOf(value) };
  let found = faults;
  while (found.length > 0) {
    const before = rest;
    for (const { path } of found) {
      const [section, name] = path.map(String);
      // A fault of a default, such as that of the router auto, cannot be removed.
      if (section === undefined || !(section in before)) return undefined;
      const isEntry =
        SECTIONS.has(section) && name !== undefined && name in objectOf(before[section]);
      const { [section]: entries, ...others } = rest;
      const { [name ?? ""]: _, ...kept } = objectOf(entries);
      // An entry or a section with several faults is removed once.
      if (section in rest) rest = isEntry ? { ...others, [section]: kept } : others;
    }
    const parsed = CONFIG.safeParse(rest);
    found = parsed.success
      ? [...faultsBetween(parsed.data, providers)]
      : parsed.error.issues.flatMap((issue) => faultsOf(issue, rest));
    if (parsed.success && found.length === 0) {
      const hadModels = Object.keys(objectOf(objectOf(value).models)).length > 0;
      const hasModels = Object.keys(parsed.data.models).length > 0;
      return hadModels && !hasModels ? undefined : parsed.data;
    }
  }
  return undefined;
}

/** Sections whose members are entries with names. */
const SECTIONS = new Set(["providers", "models", "routers", "metrics", "keys"]);

interface LocatedFault extends Fault {
  readonly line: number | undefined;
}

/** The first error of a configuration, with all others that were found at the same time. */
export class ConfigError extends InputError {
  readonly others: readonly InputError[];
  /** The part of the configuration that has none of these errors, if there is one. */
  readonly rest: Config | undefined;

  constructor(
    file: string,
    first: LocatedFault,
    others: readonly LocatedFault[],
    rest: Config | undefined,
  ) {
    super(placeOf(file, first), first.problem, first.hint);
    this.rest = rest;
    this.others = others.map(
      (fault) => new InputError(placeOf(file, fault), fault.problem, fault.hint),
    );
  }
}

function placeOf(file: string, { path, line }: LocatedFault) {
  return { file, line, field: path.map(String).join(".") || undefined };
}

export function secretsOf({ keys, providers, models, store }: Config): (string | undefined)[] {
  const { password = "" } = URL.parse(store.url ?? "") ?? {};
  return [
    ...Object.values(keys).map(({ key }) => key),
    ...Object.values(providers).flatMap(({ key, secret_key: secret, session_token: token }) => [
      key,
      secret,
      token,
    ]),
    ...Object.values(models).flatMap(({ deployments = [] }) => deployments.map(({ key }) => key)),
    store.key,
    password,
    decoded(password),
  ];
}

/** Adds file and line to an error that was found later, by code that knows only the field. */
export async function located(error: unknown, file: string): Promise<unknown> {
  if (!(error instanceof InputError) || error.file !== CONFIG_FILE || !error.field) return error;
  const yaml = new YamlText(await readFile(file, "utf8").catch(() => ""));
  const line = yaml.lineOf(yaml.pathOf(error.field));
  return new InputError({ file, line, field: error.field }, error.problem, error.hint);
}

/** File name in errors of code that does not know the file. */
const CONFIG_FILE = "joust.yaml";

/**
 * Replaces `${NAME}` in all strings by the value of the environment variable, and `${file:PATH}` by the text
 * of the file, without the white space around it.
 */
function fill(
  value: unknown,
  env: Environment,
  path: readonly PropertyKey[],
  missing: Fault[],
): unknown {
  if (typeof value === "string") {
    const inserted = value.replace(/\$\{file:([^}]+)\}/g, (_, file: string) => {
      try {
        return readFileSync(file, "utf8").trim();
      } catch (error) {
        const problem = `needs the file ${file}, which cannot be read: ${messageOf(error)}`;
        missing.push({ path, problem, hint: "correct the path or the permissions of the file" });
        return PLACEHOLDER;
      }
    });
    if (inserted !== value) return inserted;
    return value.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const found = env[name];
      if (found !== undefined && found !== "") return found;
      const problem = `needs the environment variable ${name}, which is not set`;
      missing.push({ path, problem, hint: `export ${name}, or write the value here` });
      return PLACEHOLDER;
    });
  }
  if (Array.isArray(value)) {
    return value.map((item, i) => fill(item, env, [...path, i], missing));
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, fill(item, env, [...path, key], missing)]),
    );
  }
  return value;
}

/** Text in place of a missing value, so that the rest of the configuration can be checked. */
const PLACEHOLDER = "x".repeat(32);

const SECRETS = new Set(["key", "headers", "access_key", "secret_key", "session_token"]);

/** Describes an issue, without the value if it may be a secret. */
function describeWithoutSecrets(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined || issue.input === null || !mayBeSecret(issue)) {
    return describeIssue(issue);
  }
  if (issue.code !== "invalid_type") return "is not valid";
  const kind = Array.isArray(issue.input) ? "list" : typeof issue.input;
  return `is of type ${kind}, not ${issue.expected === "record" ? "object" : issue.expected}`;
}

/** Whether a value may be a secret, or contain one: in its field, in place of a whole entry, or in an address. */
function mayBeSecret({ path = [], input, ...issue }: z.core.$ZodRawIssue): boolean {
  if (path.some((name) => SECRETS.has(String(name))) || path.join(".") === "store.url") return true;
  if (issue.code === "invalid_type" && ["object", "record"].includes(issue.expected)) return true;
  return typeof input === "string" && input.includes("@");
}

/** The faults of an issue of the schema in a value: one for each unknown member, otherwise one. */
function faultsOf(issue: z.core.$ZodIssue, value: unknown): Fault[] {
  if (issue.code === "invalid_format" && issue.format === "url") return [urlFault(issue, value)];
  if (issue.code !== "unrecognized_keys") return [faultOf(issue)];
  return issue.keys.map((key) => faultOf({ ...issue, keys: [key] }));
}

/** The fault of an address. If only the scheme is missing, the hint has the whole address. */
function urlFault(issue: z.core.$ZodIssue, value: unknown): Fault {
  const fault = faultOf(issue);
  const text = issue.path.reduce<unknown>((at, name) => objectOf(at)[String(name)], value);
  if (typeof text !== "string" || /:\/\/|@/.test(text)) return fault;
  const url = URL.parse(`http://${text}`);
  if (!url) return fault;
  // Hosts with a port and those without a domain are usually on the operator's own network.
  const isNear = url.port !== "" || !/\.[a-z]+$/i.test(url.hostname);
  return { ...fault, hint: `write ${isNear ? "http" : "https"}://${text}` };
}

/** Converts an issue of the schema. For a union, it converts the issue with the longest path. */
function faultOf(issue: z.core.$ZodIssue): Fault {
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const deepest = issue.errors.flat().reduce((a, b) => (b.path.length > a.path.length ? b : a));
    const inner = faultOf(deepest);
    return { ...inner, path: [...issue.path, ...inner.path] };
  }
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const known = membersAt(issue.path);
    const hint = `${didYouMean(key, known)}known fields: ${known.join(", ")}`;
    return { path: [...issue.path, key], problem: "is not known", hint };
  }
  const { path, message: problem } = issue;
  if (issue.code === "invalid_key") {
    return { path, problem: issue.issues[0]!.message, hint: "rename it" };
  }
  return { path, problem, hint: `correct it; ${REFERENCE} describes the field` };
}

/** The description of all fields, in the checkout or in the installed package. */
const REFERENCE = join(PACKAGE_ROOT, "docs/configuration.md");

/** Names of the members that the schema allows at a path. */
function membersAt(path: readonly PropertyKey[]): string[] {
  let at = z.toJSONSchema(CONFIG, { io: "input" }) as Shape | undefined;
  for (const key of path) {
    const inner: unknown = at?.properties?.[String(key)] ?? at?.additionalProperties;
    const shape = inner as Shape | undefined;
    at = shape?.anyOf?.find(({ properties }) => properties) ?? shape;
  }
  return Object.keys(at?.properties ?? {});
}

/** The part of a JSON schema that names members. */
interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly Shape[];
}

/** YAML text with the line numbers of its members. */
class YamlText {
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines });
  }

  /** The first syntax error, or undefined if the text is valid YAML. */
  get error(): { readonly line: number; readonly problem: string } | undefined {
    const [error] = this.#document.errors;
    const found = error
      ? { at: error.pos[0], problem: error.message.split(" at line ")[0]! }
      : this.#unknownAlias();
    return found && { line: this.#lines.linePos(found.at).line, problem: found.problem };
  }

  /** The first alias without an anchor. It is usually a secret that begins with *, so it is not repeated. */
  #unknownAlias(): { readonly at: number; readonly problem: string } | undefined {
    let at: number | undefined;
    visit(this.#document, {
      Alias: (_, alias) => {
        if (alias.resolve(this.#document)) return undefined;
        at = alias.range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
    return at === undefined
      ? undefined
      : { at, problem: "a value that begins with * needs quotes" };
  }

  get value(): unknown {
    return this.#document.toJS();
  }

  /** Line of the innermost member of the path that exists. */
  lineOf(path: readonly PropertyKey[]): number | undefined {
    const document = this.#document;
    for (let depth = path.length; depth > 0; depth--) {
      const parent =
        depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
      const offset = offsetOf(parent, path[depth - 1]!);
      if (offset !== undefined) return this.#lines.linePos(offset).line;
    }
    return document.contents ? 1 : undefined;
  }

  /** Splits a field such as models.gpt-4.1.price into names of members, which may contain dots. */
  pathOf(field: string): string[] {
    const path: string[] = [];
    let node: unknown = this.#document.contents;
    let rest = field;
    while (isMap(node) && rest !== "") {
      const keys = node.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
      const key = keys.find((name) => rest === name || rest.startsWith(`${name}.`));
      if (key === undefined) break;
      path.push(key);
      rest = rest.slice(key.length + 1);
      node = node.get(key, true);
    }
    return path;
  }
}

function offsetOf(parent: unknown, key: PropertyKey): number | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  if (isSeq(parent) && typeof key === "number") {
    const item = parent.items[key];
    return isNode(item) ? item.range?.[0] : undefined;
  }
  return undefined;
}
