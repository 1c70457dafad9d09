import type { Members } from "../../wire/json-scan.ts";
import type { UpstreamError } from "./error.ts";
import type { Usage } from "./usage.ts";

/**
 * A host of models: a provider's API, a local server or the sandbox. It receives the client's
 * own bytes and answers in OpenAI's format, whatever format the host uses.
 */
export interface Upstream {
  readonly name: string;
  /**
   * Resolves when the first bytes for the client have arrived; until then another attempt or
   * another model can replace this one. Rejects only with UpstreamError. The upstream stops
   * when the signal aborts, which happens when the client disconnects.
   */
  call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  /** The client's bytes. The upstream sets the name of the model and removes `joust`. */
  readonly body: Uint8Array;
  /** Members of the body, if it has been scanned. */
  readonly members?: Members | undefined;
  /** Name of the model: the client's when the request is read, the upstream's when it is called. */
  readonly model: string;
  readonly stream: boolean;
}

type Endpoint = "chat/completions" | "completions" | "embeddings";

/** Names are in lower case. A header that occurs twice is a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface UpstreamAnswer {
  readonly headers: AnswerHeaders;
  /**
   * The bytes as they arrive; they can be read once. Each piece of a stream consists of whole
   * events. Throws UpstreamError if the answer breaks off. Leaving the loop stops the upstream.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Resolves when the answer has ended, broken off or been abandoned. It never rejects. */
  readonly end: Promise<AnswerEnd>;
}

/** Facts about an answer that has ended. Times are times of the clock. */
export interface AnswerEnd {
  /** Usage as the upstream reported it, if it did. */
  readonly usage: Usage | undefined;
  /** Events of a stream that were passed on: a lower bound of the tokens if usage is missing. */
  readonly events: number;
  readonly sentAt: number;
  /** NaN if there was none. */
  readonly firstByteAt: number;
  readonly endedAt: number;
  /** Members of a complete answer, if it was scanned. */
  readonly members?: Members | undefined;
  readonly error: UpstreamError | undefined;
}

/** Reads an answer to its end. */
export async function readAll({ body }: Pick<UpstreamAnswer, "body">): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
