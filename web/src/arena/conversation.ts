import { type ChatNote, type ChatRequest, type Message, streamChat } from "../api/chat.ts";
import { castVote, randomId } from "../api/vote.ts";
import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";
import {
  brokenOff,
  type Choice,
  isStreaming,
  keptSlot,
  newTurn,
  type Turn,
  withEnd,
  withText,
} from "./turn.ts";

export interface AskOptions {
  readonly router: string;
  readonly isDuel: boolean;
  readonly tradeoff?: number | undefined;
}

/**
 * The turns of one tab, from the first prompt on. They outlive a reload: an answer
 * that was under way stays as far as it had come, a vote is sent until it is kept.
 */
export class Conversation {
  readonly turns: Observable<readonly Turn[]>;
  #session: string;
  #stop: AbortController | undefined;
  readonly #pending: { turn: string; slot: number; text: string; thinking: boolean }[] = [];
  #flushing: number | undefined;
  #saving: number | undefined;

  constructor() {
    const { session, turns } = restored();
    this.#session = session;
    this.turns = new Observable(turns);
    for (const turn of turns) {
      if (turn.vote?.status === "sending") this.#send(turn, turn.vote.choice);
    }
    addEventListener("pagehide", () => this.#save());
  }

  async ask(prompt: string, { router, isDuel, tradeoff }: AskOptions): Promise<void> {
    this.stop();
    const messages = [...this.turns.value.flatMap(messagesOf), { role: "user", content: prompt }];
    const turn = newTurn(randomId(), Date.now(), prompt, isDuel);
    this.turns.set([...this.turns.value, turn]);
    const request: ChatRequest = {
      model: router,
      messages: messages as Message[],
      joust: {
        duel: isDuel,
        session_id: this.#session,
        ...(tradeoff !== undefined && { cost_quality_tradeoff: tradeoff }),
      },
    };
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await streamChat(request, this.#listener(turn.id), stop.signal);
      this.#flush();
      this.#change(turn.id, (now) => (isStreaming(now) ? brokenOff(now, undefined) : now));
    } catch (error) {
      this.#flush();
      const problem = stop.signal.aborted ? undefined : (error as Error).message;
      this.#change(turn.id, (now) => brokenOff(now, problem));
    }
  }

  #listener(id: string) {
    return {
      note: (note: ChatNote) => {
        this.#flush();
        this.#change(id, (turn) => noted(turn, note));
      },
      text: (slot: number, text: string, kind: "content" | "thinking") => {
        this.#pending.push({ turn: id, slot, text, thinking: kind === "thinking" });
        this.#flushing ??= window.setTimeout(() => this.#flush(), FLUSH_MS);
      },
      ended: (slot: number, reason: string) => {
        this.#flush();
        this.#change(id, (turn) => withEnd(turn, slot, reason));
      },
    };
  }

  /** Ends the answers that are under way, as far as they have come. */
  stop(): void {
    this.#stop?.abort();
  }

  vote(id: string, choice: Choice): void {
    const turn = this.turns.value.find((one) => one.id === id);
    if (turn) this.#send(turn, choice);
  }

  skip(id: string): void {
    this.#change(id, (turn) => ({ ...turn, isSkipped: true }));
  }

  startOver(): void {
    this.stop();
    this.#session = newSession();
    this.turns.set([]);
    this.#save();
  }

  async #send({ id, decision, token }: Turn, choice: Choice): Promise<void> {
    if (decision === undefined) return;
    const set = (vote: Turn["vote"]) => this.#change(id, (turn) => ({ ...turn, vote }));
    set({ choice, status: "sending" });
    try {
      await castVote({ id: decision, ...choice, vote_token: token }, (problem) =>
        set({ choice, status: "sending", problem }),
      );
      set({ choice, status: "kept" });
    } catch (error) {
      set({ choice, status: "refused", problem: (error as Error).message });
    }
  }

  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    for (const { turn, slot, text, thinking } of this.#pending.splice(0)) {
      this.#change(turn, (now) => withText(now, slot, text, thinking));
    }
  }

  #change(id: string, change: (turn: Turn) => Turn): void {
    this.turns.set(this.turns.value.map((turn) => (turn.id === id ? change(turn) : turn)));
    this.#saving ??= window.setTimeout(() => this.#save(), SAVE_MS);
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const turns = this.turns.value.slice(-KEPT_TURNS).map((turn) => ({
      ...turn,
      answers: turn.answers.map((answer) => ({ ...answer, text: answer.text.slice(0, KEPT_TEXT) })),
    }));
    save(sessionStorage, "conversation", { session: this.#session, turns });
  }
}

const FLUSH_MS = 40;
const SAVE_MS = 1000;
/** A browser keeps some 5 MB for all of it. */
const KEPT_TURNS = 20;
const KEPT_TEXT = 50_000;

/** What came with the answer: its decision, who gave it, and whether there are two. */
function noted(turn: Turn, { decision_id, vote_token, duel, because, model, fallbacks }: ChatNote) {
  const hasTwo = duel === true;
  const failed = fallbacks?.map((one) => `${one.model}: ${one.reason}`).join("; ");
  const reason = because ?? (failed && `Others were asked first. ${failed}`);
  const isCut = turn.answers.length === 2 && !hasTwo;
  const said = isCut ? turn.answers.filter(({ text }) => text !== "").slice(0, 1) : turn.answers;
  const answers = said.length > 0 ? said : turn.answers.slice(0, 1);
  return {
    ...turn,
    decision: decision_id,
    token: vote_token ?? turn.token,
    note: reason ?? (isCut ? "no duel was possible here" : turn.note),
    answers: model === undefined ? answers : answers.map((answer) => ({ ...answer, model })),
  };
}

function messagesOf(turn: Turn): Message[] {
  const content = turn.answers[keptSlot(turn)]?.text ?? "";
  if (content === "") return [];
  return [
    { role: "user", content: turn.prompt },
    { role: "assistant", content },
  ];
}

function restored(): { session: string; turns: readonly Turn[] } {
  const saved = load(sessionStorage, "conversation") as
    | { session?: unknown; turns?: unknown }
    | undefined;
  if (typeof saved?.session !== "string" || !Array.isArray(saved.turns)) {
    return { session: newSession(), turns: [] };
  }
  const turns = (saved.turns as Turn[]).map((turn) =>
    isStreaming(turn) ? brokenOff(turn, RELOADED) : turn,
  );
  return { session: saved.session, turns };
}

const RELOADED = "The page was loaded anew while this was being written; the rest is lost.";

function newSession(): string {
  return `web-${randomId()}`;
}
