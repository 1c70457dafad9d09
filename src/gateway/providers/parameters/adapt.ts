import type { DialectName } from "../../wire/dialect-names.ts";
import { infiniteField } from "../../wire/infinite.ts";
import { type Edits, isRecord, type Json, type Members } from "../../wire/json.ts";
import type { Adaptation } from "../upstream/upstream.ts";
import { adaptMessages, schemaInstructions, withInstructions } from "./messages.ts";
import type { ParameterRules } from "./rules.ts";

export interface Adapted {
  readonly edits: Edits;
  readonly adapted: readonly Adaptation[];
}

/** Changes a request in the upstream's dialect so that a model with these rules accepts it. */
export function adapt(rules: ParameterRules, dialect: DialectName, members: Members): Adapted {
  const request = new EditedRequest(members);
  for (const [from, to] of Object.entries(rules.rename ?? {})) request.rename(from, to);
  for (const path of rules.drop ?? []) request.drop(path);
  for (const [name, accepted] of Object.entries(rules.only ?? {})) {
    if (request.value(name) !== accepted) request.drop(name);
  }
  for (const [kept, other] of rules.either ?? []) {
    if (request.value(kept) !== undefined) request.drop(other);
  }
  for (const [name, max] of Object.entries(rules.max ?? {})) request.limit(name, max);
  if (rules.maxAnswer !== undefined) {
    for (const name of ANSWER_LIMITS) request.limit(name, rules.maxAnswer);
  }
  if (dialect === "chat") adaptChat(rules, request);
  return request;
}

/** Names of the limit of an answer in all dialects. */
const ANSWER_LIMITS = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

function adaptChat(rules: ParameterRules, request: EditedRequest): void {
  const mayApply =
    (rules.noDeveloper && request.mentions("messages", "developer")) ||
    rules.dropFromMessages?.some((name) => request.mentions("messages", name));
  if (mayApply) {
    const messages = request.value("messages");
    const changed = adaptMessages(Array.isArray(messages) ? messages : [], rules);
    if (changed.adapted.length > 0) {
      request.set("messages", changed.messages, changed.adapted);
    }
  }
  if (!rules.noSchemaWithTools) return;
  const format = request.value("response_format");
  const tools = request.value("tools");
  const messages = request.value("messages");
  if (!isRecord(format) || !/^json/.test(String(format.type))) return;
  if (!Array.isArray(tools) || tools.length === 0 || !Array.isArray(messages)) return;
  if (infiniteField([format, messages]) !== undefined) return;
  request.move(
    "response_format",
    "messages",
    withInstructions(messages, schemaInstructions(format)),
  );
}

/** A request and the changes to it. */
class EditedRequest implements Adapted {
  readonly #members: Members;
  readonly #set = new Map<string, string>();
  readonly #dropped = new Set<string>();
  readonly adapted: Adaptation[] = [];

  constructor(members: Members) {
    this.#members = members;
  }

  get edits(): Edits {
    return { set: Object.fromEntries(this.#set), drop: [...this.#dropped] };
  }

  /** Value of a member after the changes so far; undefined if it is missing or null. */
  value(name: string): unknown {
    const text = this.#text(name);
    return text === undefined ? undefined : (JSON.parse(text) ?? undefined);
  }

  /** Whether the text of a member contains a word, which costs less than parsing it. */
  mentions(name: string, word: string): boolean {
    const set = this.#set.get(name);
    if (set !== undefined) return set.includes(word);
    const member = this.#members.find(name);
    if (!member) return false;
    const { buffer, byteOffset } = this.#members.json;
    const { valueStart, valueEnd } = member;
    return Buffer.from(buffer, byteOffset + valueStart, valueEnd - valueStart).includes(word);
  }

  /** Changes the value of a member. One with a number that is too large to be written again keeps its bytes. */
  set(name: string, value: unknown, adapted: readonly Adaptation[]): void {
    if (infiniteField(value) !== undefined) return;
    this.#set.set(name, JSON.stringify(value));
    this.adapted.push(...adapted);
  }

  rename(from: string, to: string): void {
    const value = this.value(from);
    const text = this.#text(from);
    if (text === undefined) return;
    this.#remove(from);
    if (value === undefined || this.value(to) !== undefined) return;
    this.#dropped.delete(to);
    this.#set.set(to, text);
    this.adapted.push({ param: from, change: "renamed", to });
  }

  drop(path: string): void {
    const [name = "", inner] = path.split(".");
    if (inner === undefined) {
      // A member that is null says nothing, so leaving it out is no change to report.
      if (this.value(name) !== undefined) this.adapted.push({ param: name, change: "dropped" });
      this.#remove(name);
      return;
    }
    const value = this.value(name);
    if (!isRecord(value) || !Object.hasOwn(value, inner)) return;
    const rest = Object.entries(value).filter(([key]) => key !== inner);
    this.set(name, Object.fromEntries(rest) satisfies Json, [{ param: path, change: "dropped" }]);
  }

  limit(name: string, max: number): void {
    const value = this.value(name);
    if (typeof value !== "number" || value <= max) return;
    this.set(name, max, [{ param: name, change: "limited", to: max }]);
  }

  /** Replaces a member by a change to another one. */
  move(name: string, to: string, value: unknown): void {
    this.#remove(name);
    this.set(to, value, [{ param: name, change: "moved", to }]);
  }

  #remove(name: string): void {
    this.#set.delete(name);
    this.#dropped.add(name);
  }

  #text(name: string): string | undefined {
    const set = this.#set.get(name);
    if (set !== undefined || this.#dropped.has(name)) return set;
    const member = this.#members.find(name);
    if (!member) return undefined;
    const { json } = this.#members;
    return Buffer.from(json.subarray(member.valueStart, member.valueEnd)).toString();
  }
}
