import { HttpError } from "../wire/http-error.ts";
import { isRecord, type Json, type Members, parsed, scanObject } from "../wire/json.ts";
import { BatchReader } from "./batch-reader.ts";
import { BATCH, itemKey, type StoredResponses } from "./stored-responses.ts";

type Store = Pick<StoredResponses, "text" | "texts" | "isAllowed">;

/** Type of an item that stands for an item of an earlier response. */
export const REFERENCE = '"item_reference"';

/** Reads conversations whose steps are stored apart, within a limit of bytes. */
export class StoredConversation {
  readonly #store: Store;
  readonly #owner: string | undefined;
  readonly #limit: number;
  readonly #steps: BatchReader;
  readonly #entries: BatchReader;
  readonly #outputs: BatchReader;
  readonly #chain: string[] = [];
  #bytes = 0;
  /** Output of the response that the last reference was about. The next one often is about the same. */
  #output: { readonly response: string; readonly items: readonly Json[] } | undefined;
  #reads = 0;

  /** `limit` is the number of bytes that the stored parts may have. */
  constructor(store: Store, owner: string | undefined, limit: number) {
    this.#store = store;
    this.#owner = owner;
    this.#limit = limit;
    this.#steps = new BatchReader(store, owner);
    this.#entries = new BatchReader(store, owner);
    this.#outputs = new BatchReader(store, owner);
  }

  /** Ids of the responses that `upTo` has read, newest first. */
  get chain(): readonly string[] {
    return this.#chain;
  }

  /**
   * Items of a conversation up to a response and its output, as JSON texts of lists without their brackets. `earlier`
   * are the responses before it, as far as they are known.
   */
  async upTo(id: unknown, earlier: readonly string[] = []): Promise<string[]> {
    const steps: Step[] = [];
    let known = earlier;
    for (let next = id; next !== undefined; ) {
      const step = await this.#step(next, id, known);
      steps.push(step);
      this.#chain.push(String(next));
      this.#take(step.input);
      this.#take(step.output);
      next = step.previous;
      known = step.earlier;
    }
    const parts: string[] = [];
    for (const { input, output } of steps.toReversed()) {
      parts.push(await this.resolved(input), output);
    }
    return parts.filter((part) => part !== "");
  }

  /** Items before a response. */
  async before(id: string): Promise<readonly unknown[]> {
    const { input, previous, earlier } = await this.#step(id, id, []);
    this.#take(input);
    const before = previous === undefined ? [] : await this.upTo(previous, earlier);
    const own = await this.resolved(input);
    return JSON.parse(`[${[...before, own].filter((part) => part !== "").join(",")}]`);
  }

  /** The items of a request with the items that it refers to in place of the references. */
  async resolved(items: string): Promise<string> {
    if (!items.includes(REFERENCE)) return items;
    const all = JSON.parse(`[${items}]`) as unknown[];
    const ids = all.filter(isReference).map(({ id }) => id);
    const responses = await this.#responsesOf(ids);
    const found: string[] = [];
    let n = 0;
    for (const item of all) {
      if (!isReference(item)) {
        found.push(JSON.stringify(item));
        continue;
      }
      const text = JSON.stringify(await this.#item(item.id, responses.slice(n++)));
      this.#take(text);
      found.push(text);
    }
    return found.join(",");
  }

  /** Ids of the responses whose outputs have the items of these ids, in the same order. */
  async #responsesOf(ids: readonly unknown[]): Promise<(string | undefined)[]> {
    for (const _ of ids) this.#countRead("input");
    const keys = ids.map((id) => (typeof id === "string" ? itemKey(id, this.#owner) : undefined));
    const found: (string | undefined)[] = [];
    for (const [i, key] of keys.entries()) {
      const next = distinct(keys.slice(i + 1));
      const entry = key && parsed((await this.#entries.read(key, next)) ?? "");
      const response = isRecord(entry) && entry.kind === "item" ? entry.response : undefined;
      found.push(typeof response === "string" ? response : undefined);
    }
    return found;
  }

  /**
   * An item of the output of the first of `responses`. The other responses are those of the items that follow.
   */
  async #item(id: unknown, [response, ...next]: readonly (string | undefined)[]): Promise<Json> {
    const item =
      response === undefined
        ? undefined
        : (await this.#outputOf(response, next)).find((one) => one.id === id);
    if (item) return item;
    throw new HttpError(400, `input: there is no stored item \`${shown(id)}\``, {
      hint: this.#store.isAllowed
        ? "items of stored responses are kept for 30 days at most; send the item itself instead of item_reference"
        : "responses are not stored here: send the items themselves instead of item_reference (with store: false, most clients do), or set store.prompts in joust.yaml",
      code: "item_not_found",
      param: "input",
    });
  }

  async #outputOf(
    response: string,
    next: readonly (string | undefined)[],
  ): Promise<readonly Json[]> {
    if (this.#output?.response === response) return this.#output.items;
    const text = await this.#outputs.read(response, distinct(next));
    const { output } = text === undefined ? { output: "" } : stepIn(text);
    const items = (JSON.parse(`[${output}]`) as unknown[]).filter(isRecord);
    this.#output = { response, items };
    return items;
  }

  /** One step of the conversation that continues the response `last`. `earlier` are the steps before it that are known. */
  async #step(id: unknown, last: unknown, earlier: readonly string[]): Promise<Step> {
    this.#countRead("previous_response_id");
    const text = typeof id === "string" ? await this.#steps.read(id, earlier) : undefined;
    const step = text === undefined ? undefined : stepIn(text);
    if (step?.kind === "kept") return step;
    const problem =
      id === last
        ? `there is no stored response \`${shown(id)}\``
        : `the conversation of \`${shown(last)}\` is incomplete: the response \`${shown(id)}\` was deleted or has expired`;
    throw new HttpError(400, problem, {
      hint: this.#store.isAllowed
        ? "responses are kept for 30 days at most; send the whole conversation as input"
        : "responses are not stored here: send the whole conversation as input, or set store.prompts in joust.yaml",
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  }

  #take(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= this.#limit) return;
    throw new HttpError(413, "the stored conversation is larger than a request may be", {
      hint: "send a shorter conversation as input, without previous_response_id, or raise server.body_mb in joust.yaml",
      code: "conversation_too_large",
      param: "previous_response_id",
    });
  }

  #countRead(param: string): void {
    this.#reads++;
    if (this.#reads <= MAX_READS) return;
    throw new HttpError(400, `the conversation has more than ${MAX_READS} stored parts`, {
      hint: "send the whole conversation as input, without previous_response_id and item_reference",
      code: "conversation_too_long",
      param,
    });
  }
}

/** Responses and items that one request may refer to. */
const MAX_READS = 2000;

function isReference(item: unknown): item is Json {
  return isRecord(item) && item.type === "item_reference";
}

/** The first of the given ids, without repetitions: as many as can be read in one query. */
function distinct(ids: readonly (string | undefined)[]): string[] {
  const found = new Set<string>();
  for (const id of ids) {
    if (found.size === BATCH) break;
    if (id !== undefined) found.add(id);
  }
  return [...found];
}

/** A step as it is stored. Items are the JSON text of a list without its brackets. */
interface Step {
  readonly kind: unknown;
  readonly previous: unknown;
  /** Ids of the responses before `previous`, newest first: at most as many as one query reads. */
  readonly earlier: readonly string[];
  readonly input: string;
  readonly output: string;
}

/** The parts of a stored step. Its items are not parsed, because they may be large. */
function stepIn(text: string): Step {
  const step = scanObject(Buffer.from(text));
  const response = step.find("response");
  const answer =
    response && step.value("kind") === "kept"
      ? scanObject(step.json, response.valueStart, response.valueEnd)
      : undefined;
  return {
    kind: step.value("kind"),
    previous: step.value("previous"),
    earlier: stringsIn(step.value("earlier")),
    input: listIn(step, "input"),
    output: answer ? listIn(answer, "output") : "",
  };
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** JSON text of a list without its brackets; "" if the member is no list. */
export function listIn(members: Members, name: string): string {
  const member = members.find(name);
  if (!member) return "";
  const { json } = members;
  const text = Buffer.from(json.subarray(member.valueStart, member.valueEnd)).toString();
  return text.startsWith("[") ? text.slice(1, -1).trim() : "";
}

function shown(id: unknown): string {
  return String(id).slice(0, 100);
}
