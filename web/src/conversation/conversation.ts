import { type ChatNote, type ChatRequest, streamChat } from "../api/chat.ts";
import { castVote, randomId } from "../api/vote.ts";
import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";
import {
  type Choice,
  continuedSlot,
  type Exchange,
  isStreaming,
  newExchange,
  withEnd,
  withInterruption,
  withText,
} from "./exchange.ts";

export interface AskOptions {
  readonly router: string;
  readonly isDuel: boolean;
  readonly tradeoff?: number | undefined;
}

/**
 * The conversation of one browser tab. It survives a reload: an answer that was being streamed
 * keeps the text received so far, and a vote is sent until the gateway has acknowledged it.
 */
export class Conversation {
  readonly exchanges: Observable<readonly Exchange[]>;
  #session: string;
  #stop: AbortController | undefined;
  /** Text that was received and not shown yet. */
  readonly #pending: { exchange: string; slot: number; text: string; thinking: boolean }[] = [];
  #flushing: number | undefined;
  #saving: number | undefined;

  constructor() {
    const { session, exchanges } = restored();
    this.#session = session;
    this.exchanges = new Observable(exchanges);
    for (const exchange of exchanges) {
      if (exchange.vote?.status === "sending") this.#send(exchange, exchange.vote.choice);
    }
    addEventListener("pagehide", () => this.#save());
  }

  async ask(prompt: string, { router, isDuel, tradeoff }: AskOptions): Promise<void> {
    this.stop();
    const messages = [
      ...this.exchanges.value.flatMap(messagesOf),
      { role: "user", content: prompt },
    ];
    const exchange = newExchange(randomId(), Date.now(), prompt, isDuel);
    this.exchanges.set([...this.exchanges.value, exchange]);
    const request: ChatRequest = {
      model: router,
      messages,
      joust: {
        duel: isDuel,
        session_id: this.#session,
        ...(tradeoff !== undefined && { cost_quality_tradeoff: tradeoff }),
      },
    };
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await streamChat(request, this.#listener(exchange.id), stop.signal);
      this.#flush();
      this.#change(exchange.id, (now) =>
        isStreaming(now) ? withInterruption(now, undefined) : now,
      );
    } catch (error) {
      this.#flush();
      const problem = stop.signal.aborted ? undefined : (error as Error).message;
      this.#change(exchange.id, (now) => withInterruption(now, problem));
    }
  }

  #listener(id: string) {
    return {
      note: (note: ChatNote) => {
        this.#flush();
        this.#change(id, (exchange) => withNote(exchange, note));
      },
      text: (slot: number, text: string, kind: "content" | "thinking") => {
        this.#pending.push({ exchange: id, slot, text, thinking: kind === "thinking" });
        this.#flushing ??= window.setTimeout(() => this.#flush(), FLUSH_MS);
      },
      ended: (slot: number, reason: string) => {
        this.#flush();
        this.#change(id, (exchange) => withEnd(exchange, slot, reason));
      },
    };
  }

  /** Stops the answers that are being streamed; the text received so far stays. */
  stop(): void {
    this.#stop?.abort();
  }

  vote(id: string, choice: Choice): void {
    const exchange = this.exchanges.value.find((one) => one.id === id);
    if (exchange) this.#send(exchange, choice);
  }

  skip(id: string): void {
    this.#change(id, (exchange) => ({ ...exchange, isSkipped: true }));
  }

  startOver(): void {
    this.stop();
    this.#session = newSession();
    this.exchanges.set([]);
    this.#save();
  }

  async #send({ id, decision, token }: Exchange, choice: Choice): Promise<void> {
    if (decision === undefined) return;
    const set = (vote: Exchange["vote"]) => this.#change(id, (exchange) => ({ ...exchange, vote }));
    set({ choice, status: "sending" });
    try {
      await castVote({ id: decision, ...choice, vote_token: token }, (problem) =>
        set({ choice, status: "sending", problem }),
      );
      set({ choice, status: "saved" });
    } catch (error) {
      set({ choice, status: "refused", problem: (error as Error).message });
    }
  }

  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    for (const { exchange, slot, text, thinking } of this.#pending.splice(0)) {
      this.#change(exchange, (now) => withText(now, slot, text, thinking));
    }
  }

  #change(id: string, change: (exchange: Exchange) => Exchange): void {
    this.exchanges.set(
      this.exchanges.value.map((exchange) => (exchange.id === id ? change(exchange) : exchange)),
    );
    this.#saving ??= window.setTimeout(() => this.#save(), SAVE_MS);
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const exchanges = this.exchanges.value.slice(-SAVED_EXCHANGES).map((exchange) => ({
      ...exchange,
      answers: exchange.answers.map((answer) => ({
        ...answer,
        text: answer.text.slice(0, SAVED_CHARACTERS),
      })),
    }));
    save(sessionStorage, "conversation", { session: this.#session, exchanges });
  }
}

const FLUSH_MS = 40;
const SAVE_MS = 1000;
/** Limits of what is saved: browsers allow about 5 MB of session storage. */
const SAVED_EXCHANGES = 20;
const SAVED_CHARACTERS = 50_000;

/** The exchange with the gateway's note: decision, model, and whether there are really two answers. */
function withNote(
  exchange: Exchange,
  { decision_id, vote_token, duel, because, model, fallbacks }: ChatNote,
) {
  const failed = fallbacks?.map((one) => `${one.model}: ${one.reason}`).join("; ");
  const reason = because ?? (failed && `Other models failed first. ${failed}`);
  const isReduced = exchange.answers.length === 2 && duel !== true;
  const written = isReduced
    ? exchange.answers.filter(({ text }) => text !== "").slice(0, 1)
    : exchange.answers;
  const answers = written.length > 0 ? written : exchange.answers.slice(0, 1);
  return {
    ...exchange,
    decision: decision_id,
    token: vote_token ?? exchange.token,
    note: reason ?? (isReduced ? "a duel was not possible for this question" : exchange.note),
    answers: model === undefined ? answers : answers.map((answer) => ({ ...answer, model })),
  };
}

function messagesOf(exchange: Exchange): ChatRequest["messages"] {
  const content = exchange.answers[continuedSlot(exchange)]?.text ?? "";
  if (content === "") return [];
  return [
    { role: "user", content: exchange.prompt },
    { role: "assistant", content },
  ];
}

function restored(): { session: string; exchanges: readonly Exchange[] } {
  const saved = load(sessionStorage, "conversation") as
    | { session?: unknown; exchanges?: unknown }
    | undefined;
  if (typeof saved?.session !== "string" || !Array.isArray(saved.exchanges)) {
    return { session: newSession(), exchanges: [] };
  }
  const exchanges = (saved.exchanges as Exchange[]).map((exchange) =>
    isStreaming(exchange) ? withInterruption(exchange, RELOADED) : exchange,
  );
  return { session: saved.session, exchanges };
}

const RELOADED = "The page was reloaded while the answers were being written. The rest is lost.";

function newSession(): string {
  return `web-${randomId()}`;
}
