import type { Clock } from "../clock/clock.ts";
import { SANDBOX } from "../providers/providers.ts";
import { ByteQueue } from "../providers/upstream/byte-queue.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import type { AnswerEnd, UpstreamAnswer } from "../providers/upstream/upstream.ts";
import type { Usage } from "../providers/upstream/usage.ts";

/** Bytes to send, and the wait before them. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly waitMs: number;
}

interface Delivery {
  readonly pieces: Iterable<Piece>;
  readonly usage: Usage;
  /** Whether the pieces are events of a stream. */
  readonly stream: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Sends the pieces at their pace, like a host on the network. */
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
