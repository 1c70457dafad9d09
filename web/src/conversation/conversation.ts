import { type ChatNote, type ChatRequest, streamChat } from "../api/chat.ts";
import { randomId } from "../api/vote.ts";
import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";
import { Ballots } from "./ballots.ts";
import {
  type Choice,
  continuedSlot,
  type Exchange,
  isStreaming,
  newExchange,
  type Vote,
  withEnd,
  withInterruption,
  withText,
} from "./exchange.ts";
import { History, type SavedConversation, withoutImages } from "./history.ts";

export interface Question {
  readonly prompt: string;
  /** Data URLs. */
  readonly images?: readonly string[] | undefined;
}

export interface AskOptions {
  readonly router: string;
  readonly isDuel: boolean;
  readonly tradeoff?: number | undefined;
  /** Models that may answer; all of the router if the list is empty. */
  readonly models?: readonly string[] | undefined;
  readonly system?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/**
 * The conversation of one browser tab. It survives a reload: an answer that was being streamed
 * keeps the text received so far, and a vote is sent until the gateway has acknowledged it.
 */
export class Conversation {
  readonly exchanges: Observable<readonly Exchange[]>;
  readonly history = new History();
  readonly #ballots = new Ballots((id, vote) => this.#change(id, (now) => ({ ...now, vote })));
  #session: string;
  #stop: AbortController | undefined;
  /** Text that was received and not shown yet. */
  readonly #pending: { exchange: string; slot: number; text: string; thinking: boolean }[] = [];
  #flushing: number | undefined;
  #saving: number | undefined;

  constructor() {
    const { session, exchanges } = restored(load(sessionStorage, "conversation"));
    this.#session = session;
    this.exchanges = new Observable(exchanges);
    this.#ballots.restore(exchanges);
    addEventListener("pagehide", () => {
      this.#ballots.leave(this.exchanges.value);
      this.#save();
    });
  }

  async ask(question: Question, options: AskOptions): Promise<void> {
    this.stop();
    this.#ballots.sendHeld(this.exchanges.value);
    const { prompt, images } = question;
    const before = this.exchanges.value;
    const exchange = newExchange(randomId(), Date.now(), prompt, options.isDuel, images);
    this.exchanges.set([...before, exchange]);
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const request = requestOf(before, question, options, this.#session);
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

  /** Asks again from an exchange on: it and all later ones are removed. */
  askFrom(id: string, question: Question, options: AskOptions): Promise<void> {
    this.stop();
    const all = this.exchanges.value;
    this.#ballots.sendHeld(all);
    const at = all.findIndex((one) => one.id === id);
    this.exchanges.set(all.slice(0, Math.max(0, at)));
    return this.ask(question, options);
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
    this.#flush();
    for (const { id } of this.exchanges.value.filter(isStreaming)) {
      this.#change(id, (exchange) => withInterruption(exchange, undefined));
    }
  }

  /** Casts a vote. It is sent after ten seconds, so that it can be undone. */
  vote(id: string, choice: Choice): void {
    const exchange = this.#find(id);
    if (exchange) this.#ballots.hold(exchange, choice);
  }

  /** Changes the reasons of a held vote. */
  explain(id: string, reasons: Pick<Vote, "reasons" | "comment">): void {
    const exchange = this.#find(id);
    if (exchange) this.#ballots.explain(exchange, reasons);
  }

  /** Sends a held or a refused vote now. */
  send(id: string): void {
    const exchange = this.#find(id);
    if (exchange) this.#ballots.send(exchange);
  }

  /** Takes back a vote that was not sent yet. */
  undo(id: string): void {
    const exchange = this.#find(id);
    if (exchange) this.#ballots.undo(exchange);
  }

  skip(id: string): void {
    this.#change(id, (exchange) => ({ ...exchange, isSkipped: true }));
  }

  /** Chooses the answer with which the conversation continues after a tie. */
  continueWith(id: string, slot: 0 | 1): void {
    this.#change(id, (exchange) => ({ ...exchange, continued: slot }));
  }

  startOver(): void {
    this.#open({ session: newSession(), exchanges: [] });
  }

  /** Opens a conversation of the history. */
  resume(saved: SavedConversation): void {
    // The open conversation is newer than its entry in the history.
    if (saved.session === this.#session) return;
    const conversation = restored(saved);
    this.#open(conversation);
    this.#ballots.restore(conversation.exchanges);
  }

  /** Deletes a conversation, or all of them, from the history; the open one is closed. */
  forget(session?: string): void {
    if (session === undefined) this.history.clear();
    else this.history.remove(session);
    if (session !== undefined && session !== this.#session) return;
    this.stop();
    this.#ballots.sendHeld(this.exchanges.value);
    this.#session = newSession();
    this.exchanges.set([]);
    this.#save();
  }

  /** Removes everything from the browser's storage before the page is left. Votes that could still be undone are sent. */
  erase(): void {
    this.#ballots.leave(this.exchanges.value);
    this.forget();
  }

  #open({ session, exchanges }: Pick<SavedConversation, "session" | "exchanges">): void {
    this.stop();
    this.#ballots.sendHeld(this.exchanges.value);
    this.#save();
    this.#session = session;
    this.exchanges.set(exchanges);
    this.#save();
  }

  #find(id: string): Exchange | undefined {
    return this.exchanges.value.find((one) => one.id === id);
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
      ...withoutImages(exchange),
      answers: exchange.answers.map((answer) => ({
        ...answer,
        text: answer.text.slice(0, SAVED_CHARACTERS),
      })),
    }));
    save(sessionStorage, "conversation", { session: this.#session, exchanges });
    // Storing all conversations takes a while, so it waits for the end of the answers.
    if (exchanges.some(isStreaming)) return;
    const at = exchanges.at(-1)?.at ?? 0;
    this.history.keep({ session: this.#session, at, exchanges });
  }
}

const FLUSH_MS = 40;
const SAVE_MS = 1000;
/** Limits of what is saved: browsers allow about 5 MB of session storage. */
const SAVED_EXCHANGES = 20;
const SAVED_CHARACTERS = 50_000;

function requestOf(
  before: readonly Exchange[],
  question: Question,
  { router, isDuel, tradeoff, models = [], system = "", temperature, maxTokens }: AskOptions,
  session: string,
): ChatRequest {
  return {
    model: router,
    messages: [
      ...(system.trim() === "" ? [] : [{ role: "system", content: system.trim() }]),
      ...before.flatMap(messagesOf),
      { role: "user", content: contentOf(question) },
    ],
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    joust: {
      duel: isDuel,
      session_id: session,
      ...(tradeoff !== undefined && { cost_quality_tradeoff: tradeoff }),
      ...(models.length > 0 && { allowed_models: [...models] }),
    },
  };
}

/** A text, or the text and its images in the form of OpenAI's chat completions. */
function contentOf({ prompt, images = [] }: Question) {
  if (images.length === 0) return prompt;
  const parts = images.map((url) => ({ type: "image_url", image_url: { url } }));
  return prompt === "" ? parts : [{ type: "text", text: prompt }, ...parts];
}

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
    { role: "user", content: contentOf(exchange) },
    { role: "assistant", content },
  ];
}

/** A conversation from the browser's storage; a new one if it is missing or damaged. */
function restored(stored: unknown): { session: string; exchanges: readonly Exchange[] } {
  const saved = stored as { session?: unknown; exchanges?: unknown } | undefined;
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
