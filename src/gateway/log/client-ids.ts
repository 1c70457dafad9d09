import type { Logger } from "pino";
import { Lane } from "../../store/lane.ts";
import type { ClientId, Store } from "../../store/store.ts";
import { StoreUnavailable } from "../../store/store-error.ts";
import { systemTimers } from "../../store/timers.ts";
import { HttpError } from "../wire/http-error.ts";

interface Parts {
  readonly store: Pick<Store, "claimIds" | "releaseId">;
  /** Time in milliseconds for which an id is kept. May change with the configuration. */
  readonly lifetime: () => number;
  readonly logger: Logger;
}

/** An id of a client that names a decision. */
export interface ClaimedId {
  readonly id: string;
  /** Frees the id, because the request was not answered and may be sent again. */
  release(): void;
}

/**
 * Ids that clients choose for their requests, so that they can vote without keeping anything of
 * the answer. They are in the store, unique per API key, so that every node knows them, also
 * after a restart. Requests at the same time share one commit.
 */
export class ClientIds {
  readonly #parts: Parts;
  readonly #claims: Lane<ClientId, boolean>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#claims = new Lane((claims) => parts.store.claimIds(claims), LANE, systemTimers);
  }

  /**
   * Gives the client's id to a decision made at `at`. Returns undefined if the store does not answer: the request is
   * answered without it. Throws 409 if the key has given the id to another request.
   */
  async claim(
    id: string,
    owner: string | undefined,
    { id: decision, at }: { readonly id: string; readonly at: number },
  ): Promise<ClaimedId | undefined> {
    const { lifetime, store, logger } = this.#parts;
    const own = { owner: owner ?? "", id, decision };
    const release = () => {
      store
        .releaseId(own)
        .catch((error: unknown) => logger.warn({ err: error, id }, "an id was not freed"));
    };
    try {
      const isOwn = await this.#claims.submit({ ...own, until: at + lifetime() }, WAIT_MS);
      if (isOwn) return { id, release };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      logger.warn({ err: error, id }, "an id was not stored");
      return undefined;
    }
    throw new HttpError(409, `the id \`${id}\` names another request of this API key`, {
      hint: "choose a new id for each request; an id is free again if its request was not answered",
      code: "id_in_use",
      param: "joust.id",
    });
  }

  /** Writes the ids that are waiting. */
  close(): Promise<void> {
    return this.#claims.close();
  }
}

const LANE = { delayMs: 0, maxBatch: 500, maxQueue: 5000 };
/** Longest time that a request waits until its id is stored. */
const WAIT_MS = 1000;
