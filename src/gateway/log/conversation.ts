import { HttpError } from "../wire/http-error.ts";
import { isRecord, type Json, type Members, scanObject } from "../wire/json.ts";
import type { StoredResponses } from "./stored-responses.ts";

type Store = Pick<StoredResponses, "text" | "responseOfItem" | "isAllowed">;

/** Type of an item that stands for an item of an earlier response. */
export const REFERENCE = '"item_reference"';

/** Reads conversations whose steps are stored apart, within a limit of bytes. */
export class StoredConversation {
  readonly #store: Store;
  readonly #owner: string | undefined;
  readonly #limit: number;
  #bytes = 0;
  /** Output of the response that the last reference was about. The next one often is about the same. */
  #output: { readonly response: string; readonly items: readonly Json[] } | undefined;
  #reads = 0;

  /** `limit` is the number of bytes that the stored parts may have. */
  constructor(store: Store, owner: string | undefined, limit: number) {
    this.#store = store;
    this.#owner = owner;
    this.#limit = limit;
  }

  /** Items of a conversation up to a response and its output, as JSON texts of lists without their brackets. */
  async upTo(id: unknown): Promise<string[]> {
    const steps: Step[] = [];
    for (let next = id; next !== undefined; ) {
      const step = await this.#step(next, id);
      steps.push(step);
      this.#take(step.input);
      this.#take(step.output);
      next = step.previous;
    }
    const parts: string[] = [];
    for (const { input, output } of steps.toReversed()) {
      parts.push(await this.resolved(input), output);
    }
    return parts.filter((part) => part !== "");
  }

  /** Items before a response. */
  async before(id: string): Promise<readonly unknown[]> {
    const { input, previous } = await this.#step(id, id);
    this.#take(input);
    const earlier = previous === undefined ? [] : await this.upTo(previous);
    const own = await this.resolved(input);
    return JSON.parse(`[${[...earlier, own].filter((part) => part !== "").join(",")}]`);
  }

  /** The items of a request with the items that it refers to in place of the references. */
  async resolved(items: string): Promise<string> {
    if (!items.includes(REFERENCE)) return items;
    const found: string[] = [];
    for (const item of JSON.parse(`[${items}]`) as unknown[]) {
      const isReference = isRecord(item) && item.type === "item_reference";
      const text = JSON.stringify(isReference ? await this.#item(item.id) : item);
      if (isReference) this.#take(text);
      found.push(text);
    }
    return found.join(",");
  }

  async #item(id: unknown): Promise<Json> {
    this.#countRead("input");
    const response =
      typeof id === "string" ? await this.#store.responseOfItem(id, this.#owner) : undefined;
    const item =
      response === undefined
        ? undefined
        : (await this.#outputOf(response)).find((one) => one.id === id);
    if (item) return item;
    throw new HttpError(400, `input: there is no stored item \`${shown(id)}\``, {
      hint: this.#store.isAllowed
        ? "items of stored responses are kept for 30 days at most; send the item itself instead of item_reference"
        : "responses are not stored here: send the items themselves instead of item_reference (with store: false, most clients do), or set store.prompts in joust.yaml",
      code: "item_not_found",
      param: "input",
    });
  }

  async #outputOf(response: string): Promise<readonly Json[]> {
    if (this.#output?.response === response) return this.#output.items;
    const text = await this.#store.text(response, this.#owner);
    const { output } = text === undefined ? { output: "" } : stepIn(text);
    const items = (JSON.parse(`[${output}]`) as unknown[]).filter(isRecord);
    this.#output = { response, items };
    return items;
  }

  /** One step of the conversation that continues the response `last`. */
  async #step(id: unknown, last: unknown): Promise<Step> {
    this.#countRead("previous_response_id");
    const text = typeof id === "string" ? await this.#store.text(id, this.#owner) : undefined;
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

/** Responses and items that one request may refer to. Each costs a read of the database. */
const MAX_READS = 2000;

/** A step as it is stored. Items are the JSON text of a list without its brackets. */
interface Step {
  readonly kind: unknown;
  readonly previous: unknown;
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
    input: listIn(step, "input"),
    output: answer ? listIn(answer, "output") : "",
  };
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
