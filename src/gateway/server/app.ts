import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyTypeProvider,
} from "fastify";
import type { z } from "zod";
import { ErrorBody, type ReadonlyDeep } from "../../api/common.ts";
import { MessagesError } from "../../api/messages.ts";
import type { Scope } from "../../api/scopes.ts";
import type { Caller } from "../access/access.ts";
import type { Concurrent } from "../access/concurrency.ts";
import { Chunks } from "../wire/chunks.ts";
import type { Client } from "../wire/client.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import { HttpError } from "../wire/http-error.ts";

/** Derives the types of requests and responses from the zod schemas of a route. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  readonly serializer: this["schema"] extends z.ZodType
    ? ReadonlyDeep<z.input<this["schema"]>>
    : unknown;
}

export type App = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  SchemaTypes
>;

declare module "fastify" {
  interface FastifyInstance {
    readonly bodies: Bodies;
  }
  interface FastifyRequest {
    caller: Caller;
    /** The client of the request; undefined if there is no such route. */
    client: Client | undefined;
  }
  interface FastifyContextConfig {
    scope?: Scope | undefined;
    byToken?: boolean | undefined;
    byAddress?: boolean | undefined;
    prompt?: boolean | undefined;
    concurrent?: Concurrent | undefined;
  }
}

/** Input and output of an endpoint. It defines validation, documentation and types. */
interface Contract {
  readonly summary: string;
  /** Permission that the API key must have. An endpoint without a scope needs no key. */
  readonly scope?: Scope;
  /** Whether a vote token in the body can replace the API key. */
  readonly byToken?: boolean;
  /** Whether the rate of requests is limited by their address, because they need no key. */
  readonly byAddress?: boolean;
  readonly params?: z.ZodObject;
  readonly querystring?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Whether the body holds a prompt and may be large. */
  readonly prompt?: boolean;
  readonly response: z.ZodType;
  /** Content type of the response if it is not JSON. */
  readonly contentType?: string;
  /** Schema of one event, if the response can also be a stream. */
  readonly event?: z.ZodType;
  /** Schema of the response as a CSV file, if the request can ask for one. */
  readonly csv?: z.ZodType;
  /** Statuses of errors that do not follow from the other members of the contract. */
  readonly errors?: readonly number[];
  /** Dialect of the clients, in whose shape errors are written. Default: OpenAI's. */
  readonly dialect?: DialectName;
}

/** Options of the route that a contract describes. */
export function contract<const C extends Contract>(given: C) {
  const { summary, scope, byToken, byAddress, prompt, ...other } = given as Contract;
  const { response, event, csv, ...rest } = other;
  const { contentType = "application/json", errors = [], dialect, ...input } = rest;
  const errorBody = dialect === "messages" ? MessagesError : ErrorBody;
  const statuses = new Set([
    ...ALWAYS,
    ...(scope ? [401, 429, 503] : []),
    ...(input.params ? [404] : []),
    ...(input.body ? [413] : []),
    ...errors,
  ]);
  const schema = {
    summary,
    ...(scope && { security: [{ key: [scope] }, {}] }),
    ...input,
    response: {
      200: {
        description: response.description ?? "Success.",
        content: {
          [contentType]: { schema: response },
          ...(event && { "text/event-stream": { schema: event } }),
          ...(csv && { "text/csv": { schema: csv } }),
        },
      },
      ...Object.fromEntries(
        [...statuses].map((status) => [status, errorSchema(`${STATUS_CODES[status]}.`, errorBody)]),
      ),
      ...(prompt && { default: errorSchema("Error of the model's provider.", errorBody) }),
    },
  };
  type Schema = Pick<C, Extract<keyof C, "params" | "querystring" | "body">> & {
    readonly response: { readonly 200: C["response"] };
  };
  const isStream = contentType === "text/event-stream";
  const concurrent: Concurrent | undefined = prompt ? "requests" : isStream ? "events" : undefined;
  const config = { scope, byToken, byAddress, prompt, concurrent };
  return { schema: schema as unknown as Schema, config };
}

/** Errors that any request can get: invalid, foreign host or origin, compressed, defect. */
const ALWAYS = [400, 403, 415, 500];

function errorSchema(description: string, schema: z.ZodType): object {
  return { description, content: { "application/json": { schema } } };
}

/** An admitted request with its body as bytes. */
export interface RawRequest {
  readonly caller: Caller;
  readonly headers: IncomingMessage["headers"];
  readonly body: Uint8Array;
  /**
   * Counts bytes that the request needs besides its body. Throws a 503 if the gateway holds too many.
   */
  readonly hold: (bytes: number) => void;
}

/**
 * Makes an endpoint read its body as bytes and write its response itself. It takes the request
 * over after admission, before fastify would parse, validate and serialize.
 */
export function takingOver(handle: (request: RawRequest, client: Client) => Promise<void>) {
  // Fastify makes a new object whenever `routeOptions` is read, so the route's limit is read once.
  let limit: number | undefined;
  const preParsing = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack();
    const { caller, client, raw } = request;
    const held = request.server.bodies.open();
    try {
      limit ??= request.routeOptions.bodyLimit!;
      const body = raw.method === "POST" ? await readBody(raw, limit, held) : EMPTY;
      const hold = (bytes: number) => {
        if (!held.take(bytes)) throw tooManyBodies();
      };
      await handle({ caller, headers: raw.headers, body, hold }, client!);
    } catch (error) {
      request.server.errorHandler(error, request, reply);
    } finally {
      held.release();
    }
  };
  return { preParsing, handler: async () => {} };
}

const EMPTY = new Uint8Array();

/** Reads a body as bytes. Rejects with 413 if it exceeds the limit, with 503 if all bodies together do. */
function readBody(request: IncomingMessage, limit: number, held: HeldBody): Promise<Uint8Array> {
  if (request.destroyed) return Promise.reject(incomplete());
  if (Number(request.headers["content-length"]) > limit) return Promise.reject(tooLarge(limit));
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks = new Chunks();
  let isRefused = false;
  // The rest of a refused body still arrives. It must not be held, because `held` is released by then.
  const refuse = (error: HttpError) => {
    isRefused = true;
    chunks.take();
    reject(error);
  };
  request.on("data", (chunk: Buffer) => {
    if (isRefused) return;
    if (chunks.bytes + chunk.length > limit) refuse(tooLarge(limit));
    else if (held.take(chunk.length)) chunks.push(chunk);
    else refuse(tooManyBodies());
  });
  request.on("end", () => resolve(chunks.take()));
  request.on("error", () => reject(incomplete()));
  return promise;
}

/** Bytes of all bodies that are being received or handled, which share one limit. */
export class Bodies {
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  open(): HeldBody {
    return new HeldBody(this);
  }

  /** Returns false if there is no room for so many more bytes. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#limit) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Bytes that one request holds: its body and what `hold` adds. */
class HeldBody {
  readonly #all: Bodies;
  #bytes = 0;

  constructor(all: Bodies) {
    this.#all = all;
  }

  /** Returns false if there is no room for so many more bytes. */
  take(bytes: number): boolean {
    if (!this.#all.take(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    this.#all.release(this.#bytes);
    this.#bytes = 0;
  }
}

/**
 * Discards the body of a request that was refused, so that the next request on the
 * connection can be read. A body larger than the limit ends the connection.
 */
export function discardBody(request: IncomingMessage, limit: number): void {
  if (request.readableFlowing !== null) return; // it is being read
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) request.socket.destroy();
  });
}

export function tooLarge(limit: number): HttpError {
  return new HttpError(413, `the body is larger than ${limit} bytes`, {
    hint: "send a smaller body, or raise server.body_mb in joust.yaml if this is a prompt",
    code: "bad_request",
  });
}

function tooManyBodies(): HttpError {
  return new HttpError(503, "the gateway holds too many bytes of requests", {
    hint: "try again in a second, or raise server.buffer_mb in joust.yaml",
    code: "overloaded",
    retryAfter: 1,
  });
}

function incomplete(): HttpError {
  return new HttpError(400, "the request broke off");
}
