import { createHash } from "node:crypto";
import { isRecord } from "../wire/json.ts";

/** A beginning of a conversation: its first messages up to one of them. */
export interface Prefix {
  /** Hash of all these messages. The text itself is not kept. */
  readonly hash: string;
  /** Share of the conversation's characters that these messages have, 0 to 1. */
  readonly share: number;
  /** Share of the conversation's characters that earlier answers in these messages have. */
  readonly answerShare: number;
  /** Whether these messages are all instructions, which other conversations share. */
  readonly isHead: boolean;
}

/**
 * The prefixes of a conversation, the shortest first. Each hash covers the hash before it, so
 * equal hashes mean equal conversations. `scope` keeps the conversations of different keys apart.
 */
export function prefixesOf(scope: string, messages: readonly unknown[]): Prefix[] {
  let hash = scope;
  let characters = 0;
  let answered = 0;
  let isHead = true;
  const all = messages.map((message) => {
    const { text, length } = digestible(message);
    hash = createHash("sha256").update(hash).update("\n").update(text).digest("base64url");
    characters += length;
    if (isRecord(message) && message.role === "assistant") answered += length;
    isHead &&= isRecord(message) && HEAD_ROLES.has(message.role);
    return { hash, characters, answered, isHead };
  });
  return all.map((one) => ({
    hash: one.hash,
    share: one.characters / Math.max(1, characters),
    answerShare: one.answered / Math.max(1, characters),
    isHead: one.isHead,
  }));
}

const HEAD_ROLES = new Set<unknown>(["system", "developer"]);

/** Text that identifies a message, and the number of its characters. Long values are shortened. */
function digestible(message: unknown): { text: string; length: number } {
  let length = 0;
  const text = JSON.stringify(message, (_, value: unknown) => {
    if (typeof value !== "string") return value;
    // Attached images and sounds are not text.
    if (!value.startsWith("data:")) length += value.length;
    return value.length <= LONG
      ? value
      : [value.length, value.slice(0, LONG / 2), value.slice(-LONG / 2)];
  });
  return { text: text ?? "", length };
}

const LONG = 32_768;

/** A prefix that some model has read. */
interface ReadPrefix {
  /** Session that it belongs to. */
  readonly session: string;
  /** Time of the last request that ended here, in milliseconds since 1970. */
  at: number;
  /** Time at which each model last read it. */
  readonly models: Map<string, number>;
  /** The model that answered last; undefined after a duel. */
  model: string | undefined;
  /** Expected tokens of all answers so far, by model, if that model had given them. */
  outputs: ReadonlyMap<string, number>;
  /** Expected tokens of all answers so far by the models that gave them: in total, and by model. */
  served: number;
  parts: ReadonlyMap<string, number>;
}

/** Facts about an answered request that later requests of its conversation need. */
export interface ReadRequest {
  readonly session: string;
  /** Models that answered. */
  readonly models: readonly string[];
  readonly at: number;
  /** Expected tokens of each model's answer. */
  readonly outputs: ReadonlyMap<string, number>;
}

/** Prefixes that models have read recently, in memory. */
export class ReadPrefixes {
  /** Prefixes by hash, the most recently used last. */
  readonly #read = new Map<string, ReadPrefix>();

  /** The longest known prefix of a conversation, which identifies its session. */
  find(prefixes: readonly Prefix[]): ReadPrefix | undefined {
    const found = prefixes.findLast(({ hash, isHead }) => !isHead && this.#read.has(hash));
    return found && this.#read.get(found.hash);
  }

  /** Share of the conversation that a model has read since a time. Without a name: that any model has read. */
  warmShare(prefixes: readonly Prefix[], since: number, model?: string): number {
    for (let i = prefixes.length - 1; i >= 0; i--) {
      const read = this.#read.get(prefixes[i]!.hash);
      const at = model === undefined ? read?.at : read?.models.get(model);
      if (at !== undefined && at >= since) return prefixes[i]!.share;
    }
    return 0;
  }

  /** Notes that models have read a conversation. */
  remember(prefixes: readonly Prefix[], { session, models, at, outputs: own }: ReadRequest): void {
    const before = this.find(prefixes);
    const outputs = new Map(
      [...own].map(([model, tokens]) => [model, tokens + (before?.outputs.get(model) ?? 0)]),
    );
    // After a duel, the conversation continues with one of the two answers.
    const parts = new Map(before?.parts);
    for (const model of models) {
      parts.set(model, (parts.get(model) ?? 0) + (own.get(model) ?? 0) / models.length);
    }
    const served = [...parts.values()].reduce((sum, part) => sum + part, 0);
    const ends = [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)];
    for (const end of new Set(ends)) {
      if (!end) continue;
      const known = this.#read.get(end.hash);
      const model = models.length === 1 ? models[0] : undefined;
      const read = known ?? { session, at, models: new Map(), model, outputs, served, parts };
      read.at = at;
      read.model = model;
      for (const model of models) read.models.set(model, at);
      this.#read.delete(end.hash);
      this.#read.set(end.hash, read);
    }
    while (this.#read.size > MOST) this.#read.delete(this.#read.keys().next().value!);
  }
}

const MOST = 50_000;
