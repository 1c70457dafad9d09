import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { DAY_MS } from "../../store/decision-id.ts";
import { readKey, seal, unseal } from "../../store/seal.ts";
import type { Store, StoredResponse } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { Peers } from "../peers/peers.ts";
import { isRecord, type Json, parsed } from "../wire/json.ts";

/** A response that the gateway keeps: one step of a conversation, and the answer to it. */
interface KeptResponse {
  readonly kind: "kept";
  /** Id of the response that this one continues. */
  readonly previous?: string | undefined;
  /** Items of the request. Those of earlier steps are kept with these steps. */
  readonly input: readonly unknown[];
  readonly response: Json;
}

/** A response that an upstream keeps, because it runs there in the background. */
export interface HeldResponse {
  readonly kind: "held";
  /** Name of the model as clients know it. */
  readonly model: string;
  /** Id of the response at the upstream. */
  readonly id: string;
}

/** The response whose output has an item. */
interface ItemEntry {
  readonly kind: "item";
  readonly response: string;
}

type ResponseState = KeptResponse | HeldResponse;

/** A step of a conversation as it is kept. */
export interface Step {
  readonly owner: string | undefined;
  /** Id of the response that this one continues. */
  readonly previous: string | undefined;
  /** Ids of the responses before that one, newest first. */
  readonly earlier: readonly string[];
  /** JSON text of the list of the request's items. */
  readonly input: string;
  readonly response: Json;
}

interface Parts {
  readonly store: Pick<Store, "saveResponses" | "response" | "responses" | "deleteResponse">;
  readonly config: () => Config["store"];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly peers: Peers;
}

/** Responses that clients refer to by their id. Prompts are only stored if the operator allows it. */
export class StoredResponses {
  readonly #parts: Parts;
  /** States that are being written. */
  readonly #writing = new Map<string, Writing>();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.peers.answer("response", (id: string) => this.#writing.get(id)?.written.promise);
  }

  /** Whether conversations may be stored. */
  get isAllowed(): boolean {
    return this.#parts.config().prompts;
  }

  /** Stores a response and the items of its request. */
  keep(id: string, { owner, previous, earlier, input, response }: Step): void {
    const known = JSON.stringify(earlier.slice(0, BATCH - 1));
    const link =
      previous === undefined ? "" : `"previous":${JSON.stringify(previous)},"earlier":${known},`;
    const text = `{"kind":"kept",${link}"input":${input},"response":${JSON.stringify(response)}}`;
    const items = Array.isArray(response.output) ? response.output.filter(isRecord) : [];
    const ids = items.flatMap((item) => (typeof item.id === "string" ? [item.id] : []));
    const entry = JSON.stringify({ kind: "item", response: id } satisfies ItemEntry);
    this.#save(owner, [[id, text], ...ids.map((own) => [itemKey(own, owner), entry] as const)]);
  }

  /** Remembers the upstream of a response. */
  hold(id: string, owner: string | undefined, state: HeldResponse): void {
    this.#save(owner, [[id, JSON.stringify(state)]]);
  }

  /** Writes texts under their ids in the background. They can be read at once on this node. */
  #save(owner: string | undefined, texts: readonly (readonly [id: string, text: string])[]): void {
    const { store, config, clock, logger } = this.#parts;
    const { key, retention_days: days = LONGEST_DAYS } = config();
    const until = clock.date() + Math.min(days, LONGEST_DAYS) * DAY_MS;
    const secret = key === undefined ? undefined : readKey(key);
    const written = Promise.withResolvers<void>();
    const rows = texts.map(([id, text]) => {
      const own: Writing = { owner: owner ?? "", text, written };
      this.#writing.set(id, own);
      return { id, own, row: { id, owner: own.owner, until, body: seal(text, id, secret) } };
    });
    store
      .saveResponses(rows.map(({ row }) => row))
      .catch((error: unknown) =>
        logger.warn({ err: error, id: texts[0]?.[0] }, "a response was not stored"),
      )
      .finally(() => {
        for (const { id, own } of rows) {
          if (this.#writing.get(id) === own) this.#writing.delete(id);
        }
        written.resolve();
      });
  }

  /** The response of this id, or undefined if there is none that the owner may read. */
  async read(id: string, owner: string | undefined): Promise<ResponseState | undefined> {
    const state = parsed((await this.text(id, owner)) ?? "");
    const isResponse = isRecord(state) && (state.kind === "kept" || state.kind === "held");
    return isResponse ? (state as unknown as ResponseState) : undefined;
  }

  /** JSON text of what is stored under an id, or undefined if there is nothing that the owner may read. */
  async text(id: string, owner: string | undefined): Promise<string | undefined> {
    const writing = this.#writing.get(id);
    if (writing) return writing.owner === (owner ?? "") ? writing.text : undefined;
    const found = (await this.#parts.store.response(id)) ?? (await this.#afterWriting(id));
    return found && this.#opened(found, owner);
  }

  /**
   * The texts of some ids, at most `BATCH`, by id, read in one query. Large ones are left out, so that the result takes
   * little memory, and so are those that are still being written; `text` reads them.
   */
  async texts(ids: readonly string[], owner: string | undefined): Promise<Map<string, string>> {
    const isWritten = (id: string) => !this.#writing.has(id);
    const rows = await this.#parts.store.responses(ids.filter(isWritten), SMALL_BYTES);
    const texts = rows.map((row) => [row.id, this.#opened(row, owner)] as const);
    return new Map(texts.filter((one): one is [string, string] => one[1] !== undefined));
  }

  /** The text of a stored response; undefined if the owner may not read it. */
  #opened({ id, owner: own, until, body }: StoredResponse, owner: string | undefined) {
    const { config, clock } = this.#parts;
    if (own !== (owner ?? "") || until < clock.date()) return undefined;
    const { key } = config();
    return unseal(body, id, key === undefined ? undefined : readKey(key));
  }

  /** The response of this id, after other processes of this machine that are writing it have finished. */
  async #afterWriting(id: string): Promise<StoredResponse | undefined> {
    const { peers, store } = this.#parts;
    if (peers.count === 1) return undefined;
    await peers.ask("response", id);
    return store.response(id);
  }

  async delete(id: string): Promise<void> {
    const writing = this.#writing.get(id);
    this.#writing.delete(id);
    // A database may run the statement that writes the row after the one that deletes it.
    await writing?.written.promise;
    await this.#parts.store.deleteResponse(id);
  }
}

interface Writing {
  readonly owner: string;
  readonly text: string;
  readonly written: PromiseWithResolvers<void>;
}

/**
 * Id under which the response of an item is stored, as `ItemEntry`. Upstreams choose the ids of items, so two owners
 * may have the same one; the hash includes the owner.
 */
export function itemKey(item: string, owner: string | undefined): string {
  const hash = createHash("sha256")
    .update(`${owner ?? ""}\n${item}`)
    .digest("base64url");
  return `item:${hash}`;
}

/** Largest number of texts that are read in one query. */
export const BATCH = 32;
/** Largest stored text that is read together with others. */
const SMALL_BYTES = 65_536;

/** Days for which responses are kept, as at OpenAI, unless decisions are deleted earlier. */
const LONGEST_DAYS = 30;
