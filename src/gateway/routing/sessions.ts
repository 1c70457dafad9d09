import { createHash } from "node:crypto";
import type { Store } from "../../store/store.ts";
import { textOf } from "../dialects/chat/prompt.ts";
import { isRecord } from "../wire/json-value.ts";

/**
 * Which model a conversation is with. In memory, the least recently used are
 * forgotten; a session that began on another node or before a restart is looked
 * up in the log.
 */
export class Sessions {
  readonly #store: Pick<Store, "decisions">;
  readonly #models = new Map<string, string>();
  readonly #size: number;

  constructor(store: Pick<Store, "decisions">, size = 20_000) {
    this.#store = store;
    this.#size = size;
  }

  /** `isRunning`: something was answered before; of a first request nobody knows anything. */
  async modelOf(session: Session, isRunning: boolean): Promise<string | undefined> {
    const key = keyOf(session);
    const known = this.#models.get(key);
    if (known !== undefined || !isRunning || session.isImplicit) return known;
    const { router, owner, id } = session;
    // A store that is away costs the session its memory, not its answer.
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

  /** After a duel nobody knows which of the two answers is gone on with. */
  forget(session: Session): void {
    this.#models.delete(keyOf(session));
  }
}

export interface Session {
  readonly router: string;
  readonly owner: string | undefined;
  readonly id: string;
  /** Known by how the conversation begins, since the client names none. */
  readonly isImplicit: boolean;
}

function keyOf({ router, owner, id }: Session): string {
  return JSON.stringify([router, owner, id]);
}

/**
 * A conversation with tools that has no session id is known again by its first
 * messages: an agent sends them every time.
 */
export function implicitId(messages: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    if (!isRecord(message)) continue;
    if (message.role === "assistant") break;
    hash.update(`${message.role}\n${textOf(message.content)}\n`);
  }
  return hash.digest("base64url");
}
