import { ApiError, post, Unreachable } from "./client.ts";
import { serverEvents } from "./server-events.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** As much of POST /v1/chat/completions as the arena asks for. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly joust: {
    readonly duel: boolean;
    readonly session_id: string;
    readonly cost_quality_tradeoff?: number;
  };
}

/** What the gateway says of an answer. */
export interface ChatNote {
  readonly decision_id: string;
  readonly vote_token?: string;
  readonly duel?: boolean | "capped";
  readonly because?: string;
  readonly model?: string;
  readonly fallbacks?: readonly { readonly model: string; readonly reason: string }[];
}

export interface ChatListener {
  note(note: ChatNote): void;
  /** `thinking`: what a model says to itself before it answers. */
  text(slot: number, text: string, kind: "content" | "thinking"): void;
  ended(slot: number, reason: string): void;
}

/** Streams one answer or two. Throws where it ends before it is over. */
export async function streamChat(
  request: ChatRequest,
  listener: ChatListener,
  signal: AbortSignal,
): Promise<void> {
  const response = await post("/v1/chat/completions", { ...request, stream: true }, signal);
  let isDone = false;
  try {
    for await (const { data } of serverEvents(response)) {
      if (data === "[DONE]") isDone = true;
      else tell(JSON.parse(data) as Chunk, listener);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw new Unreachable("the connection to the gateway was lost during the answer", {
      cause: error,
    });
  }
  if (!isDone) throw new Unreachable("the answer ended too early");
}

interface Chunk {
  readonly joust?: ChatNote;
  readonly choices?: readonly {
    readonly index: number;
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly error?: { readonly message?: string; readonly code?: string };
}

function tell({ joust, choices = [], error }: Chunk, listener: ChatListener): void {
  if (error) throw new ApiError(502, error.message ?? "the model failed", error.code);
  if (joust?.decision_id !== undefined) listener.note(joust);
  for (const { index, delta, finish_reason: reason } of choices) {
    const { content, reasoning_content: thinking } = delta ?? {};
    if (thinking) listener.text(index, thinking, "thinking");
    if (content) listener.text(index, content, "content");
    if (reason) listener.ended(index, reason);
  }
}
