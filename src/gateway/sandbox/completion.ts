import type { Clock } from "../clock/clock.ts";
import { writeUsage } from "../codecs/chat/usage.ts";
import type { Usage } from "../codecs/items/answer.ts";
import { SANDBOX } from "../config/references.ts";
import { ByteQueue } from "../providers/upstream/byte-queue.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { AnswerEnd, Translation, UpstreamAnswer } from "../providers/upstream/upstream.ts";
import type { Json } from "../wire/json.ts";
import { type Reply, tokensOf } from "./reply.ts";

/** Members that all chunks of an answer share. */
export interface Head {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly isChat: boolean;
}

/** Marks every answer as simulated, also those whose content has no room for a note. */
const FINGERPRINT = "joust-sandbox";

export function completion(head: Head, replies: readonly Reply[], usage: Usage): Json {
  const choices = replies.map((reply, index) => {
    const { content, call, finish } = reply;
    const rest = { index, logprobs: null, finish_reason: finish };
    if (!head.isChat) return { text: content, ...rest };
    const message = call
      ? {
          role: "assistant",
          content: null,
          refusal: null,
          tool_calls: [toolCall(head, index, call)],
        }
      : { role: "assistant", content, refusal: null };
    return { message, ...rest };
  });
  return { ...common(head, "chat.completion"), choices, usage: writeUsage(usage) };
}

/** Events of a stream with the choices in alternation, each with its number of tokens. */
export function* events(
  head: Head,
  replies: readonly Reply[],
  usage: Usage | undefined,
): Generator<{ event: string; tokens: number }> {
  const write = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...common(head, "chat.completion.chunk"), choices, ...more })}\n\n`;
  const chunk = (index: number, delta: Json, finish: string | null = null) => {
    const content = head.isChat ? { delta } : { text: delta.content ?? "" };
    return write([{ index, ...content, logprobs: null, finish_reason: finish }]);
  };
  if (head.isChat) {
    for (const index of replies.keys()) {
      yield { event: chunk(index, { role: "assistant", content: "" }), tokens: 0 };
    }
  }
  const pieces = replies.map(({ content, call }) => tokensOf(call ? call.arguments : content));
  const longest = Math.max(...pieces.map((tokens) => tokens.length));
  for (let t = 0; t < longest; t++) {
    for (const [index, tokens] of pieces.entries()) {
      if (t >= tokens.length) continue;
      yield {
        event: chunk(index, deltaOf(head, replies[index]!, index, tokens[t]!, t)),
        tokens: 1,
      };
    }
  }
  for (const [index, { finish }] of replies.entries()) {
    yield { event: chunk(index, {}, finish), tokens: 0 };
  }
  if (usage) yield { event: write([], { usage: writeUsage(usage) }), tokens: 0 };
  yield { event: "data: [DONE]\n\n", tokens: 0 };
}

function deltaOf(head: Head, { call }: Reply, choice: number, token: string, t: number): Json {
  if (!call) return { content: token };
  const first = t === 0 ? toolCall(head, choice, { name: call.name, arguments: "" }) : {};
  const { function: called = {} } = first as { function?: object };
  return { tool_calls: [{ index: 0, ...first, function: { ...called, arguments: token } }] };
}

function toolCall(head: Head, choice: number, call: { name: string; arguments: string }): Json {
  const { name, arguments: input } = call;
  return {
    id: `call_${head.id}_${choice}`,
    type: "function",
    function: { name, arguments: input },
  };
}

function common({ id, created, model, isChat }: Head, object: string): Json {
  const kind = isChat ? object : "text_completion";
  return { id, object: kind, created, model, system_fingerprint: FINGERPRINT };
}

/** Bytes to send, and the wait before them. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly waitMs: number;
}

/** The pieces in the client's dialect. */
export function* translatedPieces(
  pieces: Iterable<Piece>,
  translation: Translation,
): Generator<Piece> {
  let out: Uint8Array[] = [];
  const pass = (bytes: Uint8Array) => void out.push(bytes);
  let waitMs = 0;
  for (const piece of pieces) {
    waitMs += piece.waitMs;
    translation.push(Buffer.from(piece.bytes), pass);
    if (out.length === 0) continue;
    yield { bytes: Buffer.concat(out), waitMs };
    out = [];
    waitMs = 0;
  }
  translation.end(pass);
  if (out.length > 0) yield { bytes: Buffer.concat(out), waitMs };
}

interface Delivery {
  readonly pieces: Iterable<Piece>;
  readonly usage: Usage;
  /** Whether the pieces are events of a stream. */
  readonly stream: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Sends the pieces at their pace, like an upstream on the network. */
export async function deliver(delivery: Delivery): Promise<UpstreamAnswer> {
  const { usage, stream, clock } = delivery;
  const left = new AbortController();
  const signal = AbortSignal.any([delivery.signal, left.signal]);
  const queue = new ByteQueue({ pause() {}, resume() {}, stop: () => left.abort() });
  const pieces = delivery.pieces[Symbol.iterator]();
  const sentAt = clock.now();
  let sent = 0;
  /** Returns whether there was another piece. */
  const sendNext = async (): Promise<boolean> => {
    const { value: piece, done } = pieces.next();
    if (done) return false;
    if (piece.waitMs > 0) await clock.sleep(piece.waitMs, signal);
    signal.throwIfAborted();
    sent++;
    queue.push(piece.bytes);
    return true;
  };
  const cancelled = (cause: unknown) =>
    new UpstreamError("cancelled", SANDBOX, "was cancelled because the client disconnected", {
      cause,
    });
  await sendNext().catch((cause) => {
    throw cancelled(cause);
  });
  const firstByteAt = clock.now();
  const sendRest = async (): Promise<UpstreamError | undefined> => {
    try {
      while (await sendNext());
      queue.close();
      return undefined;
    } catch (cause) {
      const error = cancelled(cause);
      queue.close(error);
      return error;
    }
  };
  const end = sendRest().then((error): AnswerEnd => {
    const endedAt = clock.now();
    const events = stream ? sent : 0;
    return { usage: error ? undefined : usage, events, sentAt, firstByteAt, endedAt, error };
  });
  const contentType = stream ? "text/event-stream; charset=utf-8" : "application/json";
  return { headers: { "content-type": contentType }, body: queue, end };
}
