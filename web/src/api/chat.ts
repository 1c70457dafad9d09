import type { ChatRequest, RoutingNote } from "../../../src/client.ts";
import { joust } from "./client.ts";

export type { ChatRequest };
/** Facts about how the router came to the answer. Members that the first chunk lacks are undefined. */
export type ChatNote = Omit<RoutingNote, "router" | "vote_token"> & {
  readonly vote_token?: string | undefined;
};

export interface ChatListener {
  note(note: ChatNote): void;
  /** `thinking`: text in which a model reasons before it answers. */
  text(slot: number, text: string, kind: "content" | "thinking"): void;
  ended(slot: number, reason: string): void;
}

/** Streams one answer or two. Throws if the stream ends too early. */
export async function streamChat(
  request: ChatRequest,
  listener: ChatListener,
  signal: AbortSignal,
): Promise<void> {
  for await (const { joust: note, choices = [] } of joust.stream(request, { signal })) {
    const { decision_id } = note ?? {};
    if (decision_id !== undefined) listener.note({ ...note, decision_id });
    for (const { index, delta, finish_reason: reason } of choices) {
      const { content, reasoning_content: thinking } = delta ?? {};
      if (thinking) listener.text(index, thinking, "thinking");
      if (content) listener.text(index, content, "content");
      if (reason) listener.ended(index, reason);
    }
  }
}
