import type { DialectName } from "../../wire/dialect-names.ts";
import type { Edits, Members } from "../../wire/json.ts";
import { ByteQueue } from "./byte-queue.ts";
import type { AnswerHeaders, UpstreamError } from "./error.ts";
import type { Usage } from "./usage.ts";

/**
 * An upstream: a provider's API, a local server or the sandbox. It receives the client's
 * own bytes and answers in the client's dialect, whatever dialect the upstream speaks.
 */
export interface Upstream {
  readonly name: string;
  /** Dialects that the upstream itself speaks, chat completions by default. Others are translated. */
  readonly dialects?: readonly DialectName[] | undefined;
  /**
   * Resolves when the first bytes for the client have arrived; until then another attempt or
   * another model can replace this one. Rejects only with UpstreamError. The upstream stops
   * when the signal aborts: when the client disconnects, or when the caller's time is over.
   */
  call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** Asks an upstream that speaks Responses about a response that it keeps. */
  held?(request: HeldRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

/** Whether a signal of AbortSignal.timeout has aborted. */
export function isTimedOut({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

export interface HeldRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path under the endpoint of Responses, with the id of the response. */
  readonly path: string;
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
  /** Estimated tokens of the prompt and of the longest answer that the client allows. */
  readonly tokens?: number | undefined;
  /** Estimated tokens of the prompt. Default: those of the body. */
  readonly promptTokens?: number | undefined;
  /** Name of the model as clients know it, which signatures of reasoning carry. Default: `model`. */
  readonly origin?: string | undefined;
  /** Headers of the client that belong to its dialect, such as anthropic-beta. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Key of the conversation, by which it stays with one deployment of a model. */
  readonly affinity?: string | undefined;
  /** Whether the request must not be adapted to the model. */
  readonly strict?: boolean | undefined;
  /** Whether a model that speaks Messages accepts a schema of its answer, if the request is translated. */
  readonly schemas?: boolean | undefined;
  /**
   * Returns the changes without which the model would refuse the request, if there are any. The upstream
   * applies them to the members that it sends, in the dialect that it sends them in.
   */
  readonly adapt?: ((dialect: DialectName, members: Members) => Edits | undefined) | undefined;
}

/** Path of an endpoint under the address of an upstream. */
export type Endpoint = "chat/completions" | "responses" | "messages" | PassedEndpoint;

/** Endpoints whose requests are passed on as they are. */
type PassedEndpoint = "completions" | "embeddings" | "messages/count_tokens";

/** The dialect of an endpoint that answers conversations. */
export const DIALECT_OF: Readonly<Partial<Record<Endpoint, DialectName>>> = {
  "chat/completions": "chat",
  responses: "responses",
  messages: "messages",
};

export interface UpstreamAnswer {
  readonly headers: AnswerHeaders;
  /**
   * The bytes as they arrive; they can be read once. Each piece of a stream consists of whole
   * events. Throws UpstreamError if the answer breaks off. Leaving the loop stops the upstream.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Resolves when the answer has ended, broken off or been abandoned. It never rejects. */
  readonly end: Promise<AnswerEnd>;
  /** Usage that the upstream has reported so far. A translation may not carry all of it. */
  readonly usage?: (() => Usage | undefined) | undefined;
  /** Deployment that answers, if the model has several. */
  readonly deployment?: string | undefined;
  /** Changes that were made to the request for this model. */
  readonly adapted?: readonly Adaptation[] | undefined;
}

/** A change to a request that a model would have refused. */
export interface Adaptation {
  readonly param: string;
  readonly change: "renamed" | "dropped" | "limited" | "moved" | "added";
  /** New name, value or place. */
  readonly to?: string | number | undefined;
}

/** Facts about an answer that has ended. Times are times of the clock. */
export interface AnswerEnd {
  /** Usage as the upstream reported it, if it did. */
  readonly usage: Usage | undefined;
  /** Usage of each earlier attempt of the same model, which failed. Some may report a cost and others not. */
  readonly lost?: readonly Usage[] | undefined;
  /** Events of a stream that were passed on: a lower bound of the tokens if usage is missing. */
  readonly events: number;
  /** Estimated tokens of the text, if usage is missing. */
  readonly tokens?: number | undefined;
  readonly sentAt: number;
  /** Time of the first byte; NaN if there was none. */
  readonly firstByteAt: number;
  readonly endedAt: number;
  /** Members of a complete answer, if it was scanned. */
  readonly members?: Members | undefined;
  readonly error: UpstreamError | undefined;
}

/** The answer with the usage of earlier attempts of the same model. */
export function withLost(answer: UpstreamAnswer, lost: readonly Usage[]): UpstreamAnswer {
  if (lost.length === 0) return answer;
  const end = answer.end.then((own) => ({ ...own, lost: [...lost, ...(own.lost ?? [])] }));
  return { ...answer, end };
}

/** All bytes of an answer. Returns a promise only if they have not arrived yet. */
export function readAll({ body }: Pick<UpstreamAnswer, "body">): Uint8Array | Promise<Uint8Array> {
  const whole = body instanceof ByteQueue ? body.takeWhole() : undefined;
  return whole ?? readPieces(body);
}

async function readPieces(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/**
 * Converts the chunks of an upstream's response to the bytes for the client. It uses no network,
 * so that each format can be tested without one. Throws UpstreamError if the response is not a
 * valid answer.
 */
export interface Translation {
  push(chunk: Buffer, pass: Pass): void;
  /** Called after the last chunk. */
  end(pass: Pass): void;
  readonly usage: Usage | undefined;
  /** Events that were passed on; 0 for a complete answer. */
  readonly events: number;
  /** Estimated tokens of the text, if usage is missing. */
  readonly tokens?: number | undefined;
  /** Whether the answer is complete, so that errors of the connection no longer matter. */
  readonly isDone: boolean;
  /** Members of a complete answer, if it was scanned. */
  readonly members?: Members | undefined;
}

export type Pass = (bytes: Uint8Array) => void;
