import type { Members } from "../../wire/json-scan.ts";
import type { UpstreamError } from "./error.ts";
import type { Usage } from "./usage.ts";

/**
 * What the gateway asks of a host of models; the words:
 *
 *   upstream   a host that answers: a provider's API, a local server, the sandbox
 *   request    the client's own bytes with the model that is to answer
 *   answer     what comes back, in OpenAI's shape whatever the host speaks
 *   end        what is known once an answer is over: usage, times, its fault if any
 */
export interface Upstream {
  readonly name: string;
  /**
   * Resolves when the first bytes for the client are there, so that until then
   * another attempt or another model may answer instead. Rejects with an
   * UpstreamError, and with nothing else. The signal is the client's: when it
   * fires the upstream's work is stopped.
   */
  call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  /** As the client sent it; the upstream puts the model's name into it and takes `joust` out. */
  readonly body: Uint8Array;
  /** Where its members stand, if somebody has looked already. */
  readonly members?: Members | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

type Endpoint = "chat/completions" | "completions" | "embeddings";

/** Names in lower case; what is there twice is a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface UpstreamAnswer {
  readonly headers: AnswerHeaders;
  /**
   * The bytes as they come, once. Of a stream every piece is whole events. Throws
   * an UpstreamError where the answer breaks off; leaving the loop stops the
   * upstream's work.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Settles when the answer is over, broken off or abandoned; never rejects. */
  readonly end: Promise<AnswerEnd>;
}

export interface AnswerEnd {
  /** As the upstream counted it. Undefined where it did not say, or did not get to. */
  readonly usage: Usage | undefined;
  /** Events of a stream that were passed on: a floor of the tokens where usage is missing. */
  readonly events: number;
  /** By the clock, in milliseconds. */
  readonly sentAt: number;
  readonly firstByteAt: number;
  readonly endedAt: number;
  /** Of an answer in one piece that was looked through: where its members stand. */
  readonly members?: Members | undefined;
  readonly error: UpstreamError | undefined;
}

/** Reads an answer to its end. */
export async function readAll({ body }: Pick<UpstreamAnswer, "body">): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
