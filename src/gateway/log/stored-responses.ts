import type { Logger } from "pino";
import { readKey, seal, unseal } from "../../store/seal.ts";
import type { Store, StoredResponse } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { Peers } from "../peers/peers.ts";
import { isRecord, type Json, parsed } from "../wire/json.ts";

/** A response that the gateway keeps: the whole conversation and the answer to it. */
export interface KeptResponse {
  readonly kind: "kept";
  /** Items of the conversation before the answer. */
  readonly input: readonly unknown[];
  readonly response: Json;
}

/** A response that a host keeps, because it runs there in the background. */
export interface HeldResponse {
  readonly kind: "held";
  /** Name of the model as clients know it. */
  readonly model: string;
  /** Id of the response at the host. */
  readonly id: string;
}

type ResponseState = KeptResponse | HeldResponse;

interface Parts {
  readonly store: Pick<Store, "saveResponse" | "response" | "deleteResponse">;
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

  /** Stores a response and its conversation, which is JSON text. */
  keep(id: string, owner: string | undefined, input: string, response: Json): void {
    this.#save(
      id,
      owner,
      `{"kind":"kept","input":${input},"response":${JSON.stringify(response)}}`,
    );
  }

  /** Remembers the host of a response. */
  hold(id: string, owner: string | undefined, state: HeldResponse): void {
    this.#save(id, owner, JSON.stringify(state));
  }

  /** Writes in the background. The state can be read at once on this node. */
  #save(id: string, owner: string | undefined, text: string): void {
    const { store, config, clock, logger } = this.#parts;
    const own: Writing = { owner: owner ?? "", text, written: Promise.withResolvers() };
    this.#writing.set(id, own);
    const { key, retention_days: days = LONGEST_DAYS } = config();
    const until = clock.date() + Math.min(days, LONGEST_DAYS) * DAY_MS;
    const sealed = seal(text, id, key === undefined ? undefined : readKey(key));
    store
      .saveResponse({ id, owner: own.owner, until, body: sealed })
      .catch((error: unknown) => logger.warn({ err: error, id }, "a response was not stored"))
      .finally(() => {
        if (this.#writing.get(id) === own) this.#writing.delete(id);
        own.written.resolve();
      });
  }

  /** The response of this id, or undefined if there is none that the owner may read. */
  async read(id: string, owner: string | undefined): Promise<ResponseState | undefined> {
    const { store, config, clock } = this.#parts;
    const writing = this.#writing.get(id);
    if (writing) return writing.owner === (owner ?? "") ? stateIn(writing.text) : undefined;
    const found = (await store.response(id)) ?? (await this.#afterWriting(id));
    if (!found || found.owner !== (owner ?? "") || found.until < clock.date()) return undefined;
    const { key } = config();
    const text = unseal(found.body, id, key === undefined ? undefined : readKey(key));
    return text === undefined ? undefined : stateIn(text);
  }

  /** The response of this id, after other processes of this machine that are writing it have finished. */
  async #afterWriting(id: string): Promise<StoredResponse | undefined> {
    const { peers, store } = this.#parts;
    if (peers.count === 1) return undefined;
    await peers.ask("response", id);
    return store.response(id);
  }

  async delete(id: string): Promise<void> {
    this.#writing.delete(id);
    await this.#parts.store.deleteResponse(id);
  }
}

interface Writing {
  readonly owner: string;
  readonly text: string;
  readonly written: PromiseWithResolvers<void>;
}

function stateIn(text: string): ResponseState | undefined {
  const state = parsed(text);
  return isRecord(state) ? (state as unknown as ResponseState) : undefined;
}

/** Days for which responses are kept, as at OpenAI, unless decisions are deleted earlier. */
const LONGEST_DAYS = 30;
const DAY_MS = 86_400_000;
