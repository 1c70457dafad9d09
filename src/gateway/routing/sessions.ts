import { createHash } from "node:crypto";
import type { Store } from "../../store/store.ts";
import { textOf } from "../dialects/chat/prompt.ts";
import type { Conversation } from "../dialects/dialect.ts";
import { isRecord } from "../wire/json-scan.ts";

/** A conversation that keeps its model. */
export interface Session {
  readonly router: string;
  readonly owner: string | undefined;
  readonly id: string;
  /** Whether the id was derived from the first messages, because the client sent none. */
  readonly isImplicit: boolean;
}

/** The session of a request: the client's, or an implicit one if the request uses tools. */
export function sessionOf(
  router: string,
  owner: string | undefined,
  { options, messages, needs, inToolLoop }: Conversation,
): Session | undefined {
  const { session: id } = options;
  if (id !== undefined) return { router, owner, id, isImplicit: false };
  if (!needs.tools && !inToolLoop) return undefined;
  return { router, owner, id: implicitId(messages), isImplicit: true };
}

/** Hash of the messages before the first answer. An agent sends them with every request. */
function implicitId(messages: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    if (!isRecord(message)) continue;
    if (message.role === "assistant") break;
    hash.update(`${message.role}\n${textOf(message.content)}\n`);
  }
  return hash.digest("base64url");
}

/**
 * Models of the recently used sessions, in memory. A session that began on another node or
 * before a restart is looked up in the log.
 */
export class Sessions {
  readonly #store: Pick<Store, "decisions">;
  readonly #models = new Map<string, string>();
  readonly #size: number;

  constructor(store: Pick<Store, "decisions">, size = 20_000) {
    this.#store = store;
    this.#size = size;
  }

  /** `isRunning` says whether the conversation has an answer; the log knows nothing of a new one. */
  async modelOf(session: Session, isRunning: boolean): Promise<string | undefined> {
    const known = this.#models.get(keyOf(session));
    if (known !== undefined || !isRunning || session.isImplicit) return known;
    const { router, owner, id } = session;
    // If the store is down, the session loses its model but the request is still answered.
    const [last] = await this.#store
      .decisions({ router, owner, session: id, limit: 1 })
      .catch(() => []);
    const answered = last?.answers.filter(({ status }) => status !== "failed") ?? [];
    return answered.length === 1 ? answered[0]!.model : undefined;
  }

  remember(session: Session, model: string): void {
    const key = keyOf(session);
    this.#models.delete(key);
    this.#models.set(key, model);
    if (this.#models.size > this.#size) this.#models.delete(this.#models.keys().next().value!);
  }

  /** Used after a duel, because the client may continue with either answer. */
  forget(session: Session): void {
    this.#models.delete(keyOf(session));
  }
}

function keyOf({ router, owner, id }: Session): string {
  return JSON.stringify([router, owner, id]);
}
