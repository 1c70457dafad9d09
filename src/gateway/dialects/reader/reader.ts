import { fromPlainError } from "../../../core/threads/plain-error.ts";
import { Moved } from "../../../core/threads/serve.ts";
import { Thread } from "../../../core/threads/thread.ts";
import { HttpError } from "../../wire/http-error.ts";
import { JsonError, LARGE_BODY, Members } from "../../wire/json.ts";
import {
  type Conversation,
  type Dialect,
  type ModelRequest,
  passedHeaders,
  type RequestHeaders,
  readRequest,
} from "../dialect.ts";
import type { ReadMethods } from "./read.worker.ts";

/** A request with its conversation, which is read or checked only when it is needed. */
export interface ReadRequest {
  readonly request: ModelRequest;
  /** Throws a 400 if a member is invalid. */
  conversation(): Conversation;
}

/**
 * Reads the bodies of requests. A small one is read at once. A large one is read by a thread of
 * its own, which gets the bytes without a copy and returns them with the few facts that routing
 * needs, so that other requests do not wait.
 */
export class BodyReader {
  #thread: Thread<ReadMethods> | undefined;

  /** Reads a request that may name a router. Returns a promise only if the body is large. */
  read(
    dialect: Dialect,
    body: Uint8Array,
    headers: RequestHeaders,
  ): ReadRequest | Promise<ReadRequest> {
    const passed = passedHeaders(dialect, headers);
    if (body.length >= LARGE_BODY) return this.#readLarge(dialect, body, headers, passed);
    const request = readRequest(dialect.endpoint, body, passed);
    return { request, conversation: () => dialect.read(request.members, headers) };
  }

  async #readLarge(
    dialect: Dialect,
    body: Uint8Array,
    headers: RequestHeaders,
    passed: Readonly<Record<string, string>> | undefined,
  ): Promise<ReadRequest> {
    const { endpoint } = dialect;
    const found = await this.#methods.read(moved(body), endpoint, headers);
    return {
      request: requestOf(endpoint, found, passed),
      conversation: () => {
        if (found.conversation) return found.conversation;
        throw fromPlainError(found.problem!, ERRORS);
      },
    };
  }

  /** Reads the members that requests of all endpoints have. */
  async readRequest(endpoint: ModelRequest["endpoint"], body: Uint8Array): Promise<ModelRequest> {
    if (body.length < LARGE_BODY) return readRequest(endpoint, body);
    return requestOf(endpoint, await this.#methods.read(moved(body), endpoint));
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  get #methods(): Thread<ReadMethods>["methods"] {
    if (!this.#thread || this.#thread.isEnded) {
      this.#thread = new Thread(new URL("./read.worker.ts", import.meta.url), {
        errors: ERRORS,
        endedError: () =>
          new HttpError(503, "the request could not be read", {
            hint: "try again, or send a smaller request",
            code: "overloaded",
            retryAfter: 1,
          }),
      });
    }
    return this.#thread.methods;
  }
}

/** Errors that reading throws. */
const ERRORS = [HttpError, JsonError];

/** The body as an argument whose memory is moved, unless other values share that memory. */
function moved(body: Uint8Array): Moved<Uint8Array> | Uint8Array {
  const { buffer, byteLength } = body;
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAlone ? new Moved(body, [buffer]) : body;
}

type Found = Awaited<ReturnType<Thread<ReadMethods>["methods"]["read"]>>;

function requestOf(
  endpoint: ModelRequest["endpoint"],
  { body, open, close, spans, model, stream, limits }: Found,
  headers?: Readonly<Record<string, string>>,
): ModelRequest {
  const members = new Members(body, open, close, spans);
  return { endpoint, body, members, model, stream, headers, costLimits: limits };
}
