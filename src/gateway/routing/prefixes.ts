import type { Prefix } from "../dialects/dialect.ts";
import { ofModel } from "./linked.ts";
import { RecentMap } from "./recent-map.ts";

/** Adds the scope to the hashes of prefixes, so that conversations of different keys stay apart. */
export function prefixesIn(scope: string, prefixes: readonly Prefix[]): readonly Prefix[] {
  // A hash has no line break, so hashes without a scope differ from all others.
  if (scope === "") return prefixes;
  return prefixes.map(({ hash, share, answerShare, isHead }) => ({
    hash: `${scope}\n${hash}`,
    share,
    answerShare,
    isHead,
  }));
}

/**
 * A prefix that some model has read. There are many of them, and each lives long enough for the collector to copy it, so
 * they are kept small: short lists are linked, and numbers are in a plain array, because a typed one takes 200 bytes more.
 */
interface ReadPrefix {
  /** Session that it belongs to. */
  readonly session: string;
  /** Time of the last request that ended here, in milliseconds since 1970. */
  at: number;
  /** The models that have read it. */
  reader: Reader | undefined;
  /** The model that answered last; undefined after a duel. */
  model: string | undefined;
  /** Expected tokens of all answers so far if one model had given them, by the model's number. */
  readonly outputs: readonly number[];
  /** Expected tokens of all answers so far by the models that gave them: in total, and by model. */
  readonly served: number;
  readonly part: Part | undefined;
}

/** A model that has read a prefix, the time at which it last did, and the next model. */
interface Reader {
  readonly model: string;
  at: number;
  readonly next: Reader | undefined;
}

interface Part {
  readonly model: string;
  readonly tokens: number;
  readonly next: Part | undefined;
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

/** The prefixes of a conversation that are known. */
interface LookedUp {
  readonly prefixes: readonly Prefix[];
  readonly known: readonly (ReadPrefix | undefined)[];
}

/** Prefixes that models have read recently, in memory. */
export class ReadPrefixes {
  /** Prefixes by hash. */
  readonly #read = new RecentMap<ReadPrefix>(MOST);
  /** Numbers of the models, in the order in which they were first seen. */
  readonly #numbers = new Map<string, number>();
  /** The conversation that was looked up last. */
  #last: LookedUp | undefined;
  /** Receives what this process has learned, for the other processes of this machine. */
  onRead: ((news: ReadNews) => void) | undefined;

  /**
   * Takes over what another process has learned. The earlier answers of a conversation that began
   * there count as equally long for all models.
   */
  adopt(news: ReadNews): void {
    const { hashes, session } = news;
    for (const hash of hashes) this.#note(hash, newPrefix(session, [], 0, undefined), news);
  }

  /** The longest known prefix of a conversation, which identifies its session. */
  find(prefixes: readonly Prefix[]): ReadPrefix | undefined {
    const known = this.#lookUp(prefixes);
    for (let i = prefixes.length - 1; i >= 0; i--) {
      if (known[i] && !prefixes[i]!.isHead) return known[i];
    }
    return undefined;
  }

  /**
   * Finds the known prefixes of a conversation. The last result is kept, because prices need it
   * once for each model of the pool.
   */
  #lookUp(prefixes: readonly Prefix[]): readonly (ReadPrefix | undefined)[] {
    if (this.#last?.prefixes === prefixes) return this.#last.known;
    const known = prefixes.map(({ hash }) => this.#read.get(hash));
    this.#last = { prefixes, known };
    return known;
  }

  /** Expected tokens of all answers of a conversation so far if one model had given them. */
  outputOf({ outputs }: ReadPrefix, model: string): number {
    return outputs[this.#numbers.get(model) ?? -1] ?? 0;
  }

  /** Expected tokens of the answers of a conversation that a model gave. */
  partOf({ part }: ReadPrefix, model: string): number {
    return ofModel(part, model)?.tokens ?? 0;
  }

  /** Share of the conversation that a model has read since a time. Without a name: that any model has read. */
  warmShare(prefixes: readonly Prefix[], since: number, model?: string): number {
    const known = this.#lookUp(prefixes);
    for (let i = prefixes.length - 1; i >= 0; i--) {
      const read = known[i];
      if (!read) continue;
      const reader = model === undefined ? read : ofModel(read.reader, model);
      if (reader && reader.at >= since) return prefixes[i]!.share;
    }
    return 0;
  }

  /** Notes that models have read a conversation. */
  remember(prefixes: readonly Prefix[], request: ReadRequest): void {
    const { session, models, at } = request;
    const fresh = this.#newPrefix(this.find(prefixes), request);
    const { outputs, served, part } = fresh;
    const model = models.length === 1 ? models[0] : undefined;
    const [head, end] = [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)];
    const hashes: string[] = [];
    if (head && head !== end) hashes.push(head.hash);
    if (end) hashes.push(end.hash);
    const news = { hashes, session, at, models, model };
    // Each prefix needs an object of its own.
    if (head && head !== end) this.#note(head.hash, fresh, news);
    if (end) this.#note(end.hash, newPrefix(session, outputs, served, part), news);
    this.onRead?.(news);
  }

  /** The facts about a prefix that no model had read. */
  #newPrefix(before: ReadPrefix | undefined, request: ReadRequest): ReadPrefix {
    const { session, models, outputs: own } = request;
    for (const model of own.keys()) if (!this.#numbers.has(model)) this.#addModel(model);
    const outputs = new Array<number>(this.#numbers.size).fill(0);
    for (const [model, { output }] of own) {
      const number = this.#numbers.get(model)!;
      outputs[number] = output + (before?.outputs[number] ?? 0);
    }
    let served = 0;
    let part: Part | undefined;
    const add = (model: string, tokens: number) => {
      served += tokens;
      part = { model, tokens, next: part };
    };
    // After a duel, the conversation continues with one of the two answers.
    const tokensOf = (model: string) => (own.get(model)?.output ?? 0) / models.length;
    for (let one = before?.part; one; one = one.next) {
      const { model, tokens } = one;
      add(model, models.includes(model) ? tokens + tokensOf(model) : tokens);
    }
    for (const model of models) {
      if (!ofModel(before?.part, model)) add(model, tokensOf(model));
    }
    return newPrefix(session, outputs, served, part);
  }

  #addModel(model: string): void {
    this.#numbers.set(model, this.#numbers.size);
    this.#read.most = Math.min(MOST, Math.ceil(MOST_CELLS / this.#numbers.size));
  }

  /** Notes that models have read a prefix. `fresh` is kept if no model had read it before. */
  #note(
    hash: string,
    fresh: ReadPrefix,
    { at, models, model }: Pick<ReadNews, "at" | "models" | "model">,
  ): void {
    this.#last = undefined;
    const read = this.#read.get(hash) ?? fresh;
    read.at = at;
    read.model = model;
    for (const one of models) noteReader(read, one, at);
    this.#read.set(hash, read);
  }

  /**
   * Notes that one more model has read a conversation that continues with the answer of another
   * model.
   */
  alsoRead(prefixes: readonly Prefix[], model: string, at: number): void {
    for (const end of [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)]) {
      const read = this.#read.get(end?.hash ?? "");
      if (!end || !read) continue;
      noteReader(read, model, at);
      const { session, model: answered } = read;
      this.onRead?.({ hashes: [end.hash], session, at, models: [model], model: answered });
    }
  }
}

/** A prefix that no model has read. */
function newPrefix(
  session: string,
  outputs: readonly number[],
  served: number,
  part: Part | undefined,
): ReadPrefix {
  return { session, at: 0, reader: undefined, model: undefined, outputs, served, part };
}

/** Largest number of prefixes, and of expected tokens of models in all of them, which take 8 bytes each. */
const MOST = 20_000;
const MOST_CELLS = 4_000_000;

function noteReader(read: ReadPrefix, model: string, at: number): void {
  const known = ofModel(read.reader, model);
  if (known) known.at = at;
  else read.reader = { model, at, next: read.reader };
}
