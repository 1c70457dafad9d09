import type { Prefix } from "../dialects/dialect.ts";
import { RecentMap } from "./recent-map.ts";

/** Adds the scope to the hashes of prefixes, so that conversations of different keys stay apart. */
export function prefixesIn(scope: string, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.map(({ hash, share, answerShare, isHead }) => ({
    hash: `${scope}\n${hash}`,
    share,
    answerShare,
    isHead,
  }));
}

/** A prefix that some model has read. There are many of them, so they are kept small. */
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
  readonly outputs: Float64Array;
  /** Expected tokens of all answers so far by the models that gave them: in total, and by model. */
  readonly served: number;
  readonly parts: readonly Part[];
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
    const none = { outputs: new Float64Array(), served: 0, parts: [] };
    for (const hash of hashes) this.#note(hash, { session, ...UNREAD, ...none }, news);
  }

  /** The longest known prefix of a conversation, which identifies its session. */
  find(prefixes: readonly Prefix[]): ReadPrefix | undefined {
    const known = this.#lookUp(prefixes);
    for (let i = prefixes.length - 1; i >= 0; i--) {
      if (known[i] && !prefixes[i]!.isHead) return known[i];
    }
    return undefined;
  }

  /** Its prices look a conversation up once for each model of the pool. */
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
  partOf({ parts }: ReadPrefix, model: string): number {
    return parts.find((part) => part.model === model)?.tokens ?? 0;
  }

  /** Share of the conversation that a model has read since a time. Without a name: that any model has read. */
  warmShare(prefixes: readonly Prefix[], since: number, model?: string): number {
    const known = this.#lookUp(prefixes);
    for (let i = prefixes.length - 1; i >= 0; i--) {
      const read = known[i];
      if (!read) continue;
      const at = model === undefined ? read.at : readAt(read, model);
      if (at >= since) return prefixes[i]!.share;
    }
    return 0;
  }

  /** Notes that models have read a conversation. */
  remember(prefixes: readonly Prefix[], request: ReadRequest): void {
    const { session, models, at } = request;
    const fresh = this.#newPrefix(this.find(prefixes), request);
    const ends = [prefixes.findLast(({ isHead }) => isHead), prefixes.at(-1)];
    const hashes = [...new Set(ends)].flatMap((end) => (end ? [end.hash] : []));
    const model = models.length === 1 ? models[0] : undefined;
    for (const hash of hashes) this.#note(hash, { ...fresh }, { at, models, model });
    this.onRead?.({ hashes, session, at, models, model });
  }

  /** The facts about a prefix that no model had read. */
  #newPrefix(before: ReadPrefix | undefined, request: ReadRequest): ReadPrefix {
    const { session, models, outputs: own } = request;
    for (const model of own.keys()) if (!this.#numbers.has(model)) this.#addModel(model);
    const outputs = new Float64Array(this.#numbers.size);
    for (const [model, { output }] of own) {
      const number = this.#numbers.get(model)!;
      outputs[number] = output + (before?.outputs[number] ?? 0);
    }
    // After a duel, the conversation continues with one of the two answers.
    const tokensOf = (model: string) => (own.get(model)?.output ?? 0) / models.length;
    const earlier = before?.parts ?? [];
    const parts = earlier.map(({ model, tokens }) => ({
      model,
      tokens: models.includes(model) ? tokens + tokensOf(model) : tokens,
    }));
    for (const model of models) {
      if (earlier.some((part) => part.model === model)) continue;
      parts.push({ model, tokens: tokensOf(model) });
    }
    const served = parts.reduce((sum, { tokens }) => sum + tokens, 0);
    return { session, ...UNREAD, outputs, served, parts };
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

  /** Notes that one more model has read a conversation, which continues with another one's answer. */
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

/** The members of a prefix that no model has read. */
const UNREAD = { at: 0, reader: undefined, model: undefined };

/** Largest number of prefixes, and of expected tokens of models in all of them, which take 8 bytes each. */
const MOST = 20_000;
const MOST_CELLS = 4_000_000;

/** Time at which a model last read a prefix; NaN if it never did. */
function readAt({ reader }: ReadPrefix, model: string): number {
  for (let one = reader; one; one = one.next) if (one.model === model) return one.at;
  return Number.NaN;
}

function noteReader(read: ReadPrefix, model: string, at: number): void {
  for (let one = read.reader; one; one = one.next) {
    if (one.model !== model) continue;
    one.at = at;
    return;
  }
  read.reader = { model, at, next: read.reader };
}
