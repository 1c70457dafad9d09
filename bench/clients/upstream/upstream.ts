import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { DialectName } from "../../../src/gateway/wire/dialect-names.ts";
import { type Cell, refusalText } from "../cells.ts";
import { chat } from "./chat.ts";
import { type Conversation, Refused, type Wire } from "./conversation.ts";
import { functionLoop, type Loop } from "./loops.ts";
import { messages } from "./messages.ts";
import { type Reply, replyTo } from "./replies.ts";
import { responses } from "./responses.ts";

const WIRES: Readonly<Record<DialectName, Wire>> = { chat, responses, messages };
const PATHS = { chat: "chat/completions", responses: "responses", messages: "messages" } as const;

/** The key of the upstream, and the one that clients send to the gateway. */
export const UPSTREAM_KEY = "key-of-the-upstream";
export const CLIENT_KEY = "key-of-the-client";

/** A request that the upstream received. */
export interface Received {
  readonly dialect: DialectName;
  readonly body: unknown;
  readonly request: Conversation | undefined;
  readonly cell: Cell | undefined;
  readonly nonce: string;
  /** Why the upstream refused the request, unless the cell expects a refusal. */
  readonly problem: string | undefined;
  /** Resolves when the connection of the answer is closed, with whether the answer was complete. */
  readonly closed: Promise<boolean>;
}

/** A strict host of one model per dialect, which records what it receives. */
export class Upstream {
  readonly received: Received[] = [];
  /** The tool loop of the client that runs. */
  loop: Loop = functionLoop;
  /** Endless answers that have begun, by nonce, with the first piece. */
  readonly #begun = new Map<string, PromiseWithResolvers<string>>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<Upstream> {
    const upstream = new Upstream();
    upstream.#server.listen(0, "127.0.0.1");
    await once(upstream.#server, "listening");
    return upstream;
  }

  /** Address of the endpoint of a dialect. */
  url(dialect: DialectName): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${dialect}/v1/${PATHS[dialect]}`;
  }

  /** Address under which a client learns, by nonce, that an endless answer has begun. */
  get begunUrl(): string {
    return this.url("chat").replace(/chat.*/, "begun");
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const [, first, nonceAsked = ""] = message.url!.split("/");
    if (first === "begun") {
      response.end(await this.#begin(nonceAsked).promise);
      return;
    }
    const dialect = first as DialectName;
    const wire = WIRES[dialect];
    let body: unknown;
    let request: Conversation | undefined;
    let reply: Reply | undefined;
    let problem: string | undefined;
    try {
      body = JSON.parse(Buffer.concat(chunks).toString());
      checkHead(message, dialect);
      request = wire.read(body);
      reply = replyTo(request, this.loop);
    } catch (error) {
      problem = error instanceof Refused ? error.message : String(error);
    }
    const closed = once(response, "close").then(() => response.writableFinished);
    const { cell, nonce = "" } = reply ?? {};
    this.received.push({ dialect, body, request, cell, nonce, problem, closed });
    if (!request || !reply?.answer) {
      response.writeHead(400, { "content-type": "application/json" });
      const text = problem ?? refusalText(nonce);
      response.end(JSON.stringify(wire.error(400, text)));
    } else if (request.stream) {
      await stream(response, wire, request, reply.answer);
      if (reply.answer.isEndless) this.#begin(nonce).resolve(reply.answer.pieces[0]!);
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(wire.body(reply.answer, request.model)));
    }
  }

  #begin(nonce: string): PromiseWithResolvers<string> {
    const begun = this.#begun.get(nonce) ?? Promise.withResolvers<string>();
    this.#begun.set(nonce, begun);
    return begun;
  }
}

/** Refuses requests to other paths, without the upstream's key, or with the client's key. */
function checkHead({ method, url, headers }: IncomingMessage, dialect: DialectName): void {
  const path = url!.split("?")[0];
  if (method !== "POST" || path !== `/${dialect}/v1/${PATHS[dialect]}`) {
    throw new Refused(`there is no ${method} ${url}`);
  }
  const key = headers["x-api-key"] ?? headers.authorization?.replace("Bearer ", "");
  if (key !== UPSTREAM_KEY) throw new Refused("the key of the upstream is missing");
  if (JSON.stringify(headers).includes(CLIENT_KEY)) throw new Refused("the client's key leaked");
  if (dialect === "messages" && headers["anthropic-version"] === undefined) {
    throw new Refused("anthropic-version: header is required");
  }
}

async function stream(
  response: ServerResponse,
  wire: Wire,
  request: Conversation,
  answer: NonNullable<Reply["answer"]>,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const first = JSON.stringify(answer.pieces[0]);
  for (const event of wire.events(answer, request)) {
    wire.write(response, event);
    // The client ends an endless stream.
    if (answer.isEndless && JSON.stringify(event).includes(first)) return;
    await setImmediate();
  }
  wire.end(response);
}
