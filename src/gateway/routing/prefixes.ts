import type { Prefix } from "../dialects/dialect.ts";

/** Adds the scope to the hashes of prefixes, so that conversations of different keys stay apart. */
export function prefixesIn(scope: string, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.map((prefix) => ({ ...prefix, hash: `${scope}\n${prefix.hash}` }));
}

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
  /** Expected tokens of all answers so far if one model had given them, by the model's number. */
  outputs: Float64Array;
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
  readonly outputs: ReadonlyMap<string, { readonly output: number }>;
}

/**
 * News that models have read the prefixes with these hashes, for the other processes of this
 * machine. Expected tokens are left out: their number grows with the pool.
 */
export interface ReadNews {
  readonly hashes: readonly string[];
  readonly session: string;
  readonly at: number;
  readonly models: readonly string[];
  /** The model that answered last; undefined after a duel. */
  readonly model: string | undefined;
}

/** Prefixes that models have read recently, in memory. */
export class ReadPrefixes {
  /** Prefixes by hash, the most recently used last. */
  readonly #read = new Map<string, ReadPrefix>();
  /** Numbers of the models, in the order in which they were first seen. */
  readonly #numbers = new Map<string, number>();
  /** Lengths of all `outputs` together. */
  #cells = 0;
  /** Receives what this process has learned, for the other processes of this machine. */
  onRead: ((news: ReadNews) => void) | undefined;

  /**
   * Takes over what another process has learned. The earlier answers of a conversation that began
   * there count as equally long for all models.
   */
  adopt({ hashes, session, at, models, model }: ReadNews): void {
    const none = { outputs: new Float64Array(), served: 0, parts: new Map() };
    for (const hash of hashes) {
      const read = this.#read.get(hash) ?? { session, at, models: new Map(), model, ...none };
      this.#note(hash, read, { at, models, model });
    }
    this.#forgetMost();
  }

  /** The longest known prefix of a conversation, which identifies its session. */
  find(prefixes: readonly Prefix[]): ReadPrefix | undefined {
    const found = prefixes.findLast(({ hash, isHead }) => !isHead && this.#read.has(hash));
    return found && this.#read.get(found.hash);
  }

  /** Expected tokens of all answers of a conversation so far if one model had given them. */
  outputOf({ outputs }: ReadPrefix, model: string): number {
    return outputs[this.#numbers.get(model) ?? -1] ?? 0;
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
    for (const model of own.keys()) {
      if (!this.#numbers.has(model)) this.#numbers.set(model, this.#numbers.size);
    }
    const outputs = new Float64Array(this.#numbers.size);
    for (const [model, { output }] of own) {
      const number = this.#numbers.get(model)!;
      outputs[number] = output + (before?.outputs[number] ?? 0);
    }
    // After a duel, the conversation continues with one of the two answers.
    const parts = new Map(before?.parts);
    for (const model of models) {
      parts.set(model, (parts.get(model) ?? 0) + (own.get(model)?.output ?? 0) / models.length);
    }
    const served = [...parts.values()].reduce((sum, part) => sum + part, 0);
    const ends = [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)];
    const model = models.length === 1 ? models[0] : undefined;
    const hashes: string[] = [];
    for (const end of new Set(ends)) {
      if (!end) continue;
      const known = this.#read.get(end.hash);
      const read = known ?? { session, at, models: new Map(), model, outputs, served, parts };
      if (!known) this.#cells += outputs.length;
      this.#note(end.hash, read, { at, models, model });
      hashes.push(end.hash);
    }
    this.onRead?.({ hashes, session, at, models, model });
    this.#forgetMost();
  }

  #note(
    hash: string,
    read: ReadPrefix,
    { at, models, model }: Pick<ReadNews, "at" | "models" | "model">,
  ): void {
    read.at = at;
    read.model = model;
    for (const one of models) read.models.set(one, at);
    this.#read.delete(hash);
    this.#read.set(hash, read);
  }

  #forgetMost(): void {
    while (this.#read.size > MOST || this.#cells > MOST_CELLS) {
      const [hash, { outputs }] = this.#read.entries().next().value!;
      this.#read.delete(hash);
      this.#cells -= outputs.length;
    }
  }

  /** Notes that one more model has read a conversation, which continues with another one's answer. */
  alsoRead(prefixes: readonly Prefix[], model: string, at: number): void {
    for (const end of [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)]) {
      const read = this.#read.get(end?.hash ?? "");
      if (!end || !read) continue;
      read.models.set(model, at);
      const { session, model: answered } = read;
      this.onRead?.({ hashes: [end.hash], session, at, models: [model], model: answered });
    }
  }
}

/** Largest number of prefixes, and of expected tokens of models in all of them, which take 8 bytes each. */
const MOST = 50_000;
const MOST_CELLS = 4_000_000;
