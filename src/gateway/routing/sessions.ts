import { isDuel, isLaterDuel } from "../../store/decision.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Store } from "../../store/store.ts";
import type { Conversation } from "../dialects/dialect.ts";
import { ALONE, type Peers } from "../peers/peers.ts";
import { RecentMap } from "./recent-map.ts";

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
  { options, history }: Conversation,
): Session | undefined {
  const { session_id: id } = options;
  if (id != null) return { router, owner, id, isImplicit: false };
  const { opening } = history;
  return opening === undefined ? undefined : { router, owner, id: opening, isImplicit: true };
}

/**
 * Models of the recently used sessions, in the memory of all processes of this machine. A session
 * that began on another node or before a restart is looked up in the log.
 */
export class Sessions {
  readonly #store: Pick<Store, "decisions">;
  readonly #models = new RecentMap<string>(MAX_SESSIONS);
  readonly #now: () => number;
  readonly #peers: Peers;

  /** `now` in milliseconds since 1970. */
  constructor(store: Pick<Store, "decisions">, now: () => number, peers: Peers = ALONE) {
    this.#store = store;
    this.#now = now;
    this.#peers = peers;
    peers.on("session", ([key, model]: [string, string | undefined]) => this.#note(key, model));
  }

  /**
   * Returns the model that answered last in the session. `isRunning` says whether the
   * conversation has an answer; a new conversation is not looked up in the log.
   */
  async modelOf(session: Session, isRunning: boolean): Promise<string | undefined> {
    const known = this.#models.get(keyOf(session));
    if (known !== undefined || !isRunning || session.isImplicit) return known;
    const { router, owner, id } = session;
    // If the store is down, the session loses its model but the request is still answered.
    const [last] = await this.#store
      .decisions({ router, owner, session: id, since: this.#now() - REMEMBERED_MS, limit: 1 })
      .catch(() => []);
    if (!last) return undefined;
    const { decision, answers } = last;
    const answered = answers.filter(({ status }) => status !== "failed");
    // Beside a single answer, slot 1 has an answer that was made for a judge.
    const hasTwo = isDuel(decision) && !isLaterDuel(decision);
    const shown = hasTwo ? answered : answered.filter(({ slot }) => slot === 0);
    return shown.length === 1 ? shown[0]!.model : undefined;
  }

  remember(session: Session, model: string): void {
    this.#tell(keyOf(session), model);
  }

  /** Forgets the model of a session after a duel, because the client may continue with either answer. */
  forget(session: Session): void {
    this.#tell(keyOf(session), undefined);
  }

  #tell(key: string, model: string | undefined): void {
    if (this.#models.get(key) !== model) this.#peers.tell("session", [key, model]);
    this.#note(key, model);
  }

  #note(key: string, model: string | undefined): void {
    if (model === undefined) this.#models.delete(key);
    else this.#models.set(key, model);
  }
}

/** Sessions that paused for longer are not looked up, because every day costs a query. */
const REMEMBERED_MS = 7 * DAY_MS;
const MAX_SESSIONS = 20_000;

function keyOf({ router, owner, id }: Session): string {
  return JSON.stringify([router, owner, id]);
}
