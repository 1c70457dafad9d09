import { JsonError, type Members, scanObject } from "../../wire/json.ts";
import { type AnswerHeaders, errorIn, UpstreamError } from "./error.ts";
import { readUsage, type Usage } from "./usage.ts";

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
  /** Estimated tokens of the prompt and of the longest answer that the client allows. */
  readonly tokens?: number | undefined;
}

type Endpoint = "chat/completions" | "completions" | "embeddings";

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

export async function readAll({ body }: Pick<UpstreamAnswer, "body">): Promise<Uint8Array> {
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
  /** Whether the answer is complete, so that errors of the connection no longer matter. */
  readonly isDone: boolean;
  /** Members of a complete answer, if it was scanned. */
  readonly members?: Members | undefined;
}

export type Pass = (bytes: Uint8Array) => void;

/** Whether a response holds a completion, or the list of an embedding or of models. */
function isAnswer(members: Members): boolean {
  const listIn = (name: string) => {
    const member = members.find(name);
    const text = member && members.json.subarray(member.valueStart, member.valueEnd);
    return text?.[0] === OPEN_BRACKET ? text : undefined;
  };
  const choices = listIn("choices");
  return choices
    ? !/^\[\s*\]$/.test(Buffer.from(choices.subarray(0, 64)).toString())
    : !!listIn("data");
}

const OPEN_BRACKET = 0x5b;

/** A complete answer in OpenAI's format. It is passed on when all of it has arrived. */
export class WholeAnswer implements Translation {
  readonly events = 0;
  readonly isDone = false;
  usage: Usage | undefined;
  members: Members | undefined;
  readonly #upstream: string;
  readonly #chunks: Buffer[] = [];

  constructor(upstream: string) {
    this.#upstream = upstream;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(pass: Pass): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    try {
      this.members = scanObject(body);
      this.usage = readUsage(this.members.value("usage"));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new UpstreamError(
        "broken",
        this.#upstream,
        `sent an incomplete answer: ${error.message}`,
      );
    }
    if (isAnswer(this.members)) pass(body);
    else if (this.members.find("error")) throw errorIn(this.#upstream, this.members);
    else throw new UpstreamError("broken", this.#upstream, "sent no answer");
  }
}
