import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A local upstream with OpenAI's API that fails in the way that its path names:
 * http://127.0.0.1:PORT/FAULT/v1. It records the requests.
 */
export interface Misbehaving {
  readonly url: (fault: Fault) => string;
  readonly received: Received[];
  /** Number of requests whose client disconnected before the end. */
  readonly abandoned: () => number;
  readonly close: () => Promise<void>;
}

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** Identifies the connection. */
  readonly port: number | undefined;
}

export type Fault = keyof typeof FAULTS;

export async function startMisbehaving(): Promise<Misbehaving> {
  const received: Received[] = [];
  let abandoned = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = request.url!;
    received.push({ path, headers: request.headers, body, port: request.socket.remotePort });
    response.on("close", () => {
      if (!response.writableFinished) abandoned++;
    });
    const fault = path.split("/")[1] as Fault;
    const earlier = received.filter((other) => other.path === path).length - 1;
    const chat = body.length > 0 ? JSON.parse(body.toString()) : {};
    const key = request.headers.authorization ?? "";
    await FAULTS[fault](response, { chat, earlier, key });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (fault) => `http://127.0.0.1:${port}/${fault}/v1`,
    received,
    abandoned: () => abandoned,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Context {
  /** The request's Authorization header. */
  readonly key: string;
  readonly chat: { stream?: boolean; stream_options?: { include_usage?: boolean } };
  /** Number of earlier requests to this path. */
  readonly earlier: number;
}

type Behaviour = (response: ServerResponse, context: Context) => unknown;

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };

export const COMPLETION = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
  usage: USAGE,
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const usageChunk = `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE })}\n\n`;

export const EVENTS = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Hel" }),
  chunk({ content: "lo!" }),
  chunk({}, "stop"),
];
export const DONE_EVENT = "data: [DONE]\n\n";

const refuse = (response: ServerResponse, status: number, headers = {}) =>
  response
    .writeHead(status, { ...JSON_TYPE, ...headers })
    .end(
      JSON.stringify({ error: { message: `no: ${status}`, type: "t", param: null, code: "c" } }),
    );

const well: Behaviour = (response, { chat }) => {
  if (!chat.stream) {
    response.writeHead(200, { ...JSON_TYPE, "x-request-id": "r-1" }).end(COMPLETION);
    return;
  }
  response.writeHead(200, SSE);
  for (const event of EVENTS) response.write(event);
  if (chat.stream_options?.include_usage) response.write(usageChunk);
  response.end(DONE_EVENT);
};

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Lets the event loop run often enough for a client in this process to read what was sent. */
async function untilRead(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}

const beginStream = async (response: ServerResponse) => {
  response.writeHead(200, SSE);
  response.write(EVENTS[0]);
  response.write(EVENTS[1]);
  await untilRead();
};

const endingIn =
  (text = ""): Behaviour =>
  async (response) => {
    await beginStream(response);
    response.end(text);
  };

const FAULTS = {
  well,
  /** Reads the request and never answers. */
  hang: () => {},
  /** Begins to answer and never continues. */
  stall: async (response) => beginStream(response),
  /** Sends comments and pings, and never an answer. */
  comments: (response) => {
    response.writeHead(200, SSE);
    const timer = setInterval(() => response.write(": wait\n\nevent: ping\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  },
  reset: (response) => response.socket!.resetAndDestroy(),
  resetOnce: (response, context) =>
    context.earlier === 0 ? response.socket!.resetAndDestroy() : well(response, context),
  resetMidStream: async (response) => {
    await beginStream(response);
    response.socket!.resetAndDestroy();
  },
  /** Sends headers and nothing else. */
  resetAfterHead: async (response) => {
    response.writeHead(200, SSE).flushHeaders();
    await untilRead();
    response.socket!.resetAndDestroy();
  },
  slowFirstByte: async (response, context) => {
    await later(60);
    await well(response, context);
  },
  /** Cuts events at odd places, also inside characters and line ends. */
  dribble: async (response) => {
    response.writeHead(200, SSE);
    const bytes = Buffer.from(
      `${EVENTS.join("")}${chunk({ content: "é😀" })}${usageChunk}${DONE_EVENT}`,
    );
    for (let i = 0; i < bytes.length; i += 37) {
      response.write(bytes.subarray(i, i + 37));
      await later(0);
    }
    response.end();
  },
  brokenSse: endingIn("this is no event\n\n"),
  brokenEvent: endingIn(`data: {"id":"chatcmpl-1","choices":[{"delta":{"con\n\n${DONE_EVENT}`),
  /** Closes the connection properly, in the middle of an event. */
  cutEvent: endingIn('data: {"id":"chatcmpl-1","cho'),
  earlyClose: endingIn(),
  /** Sends the whole answer and does not close. */
  lingering: (response) =>
    response.writeHead(200, SSE).write(EVENTS.join("") + usageChunk + DONE_EVENT),
  resetAfterDone: async (response) => {
    response.writeHead(200, SSE).write(EVENTS.join("") + usageChunk + DONE_EVENT);
    await untilRead();
    response.socket!.resetAndDestroy();
  },
  noDone: (response) => response.writeHead(200, SSE).end(EVENTS.join("")),
  noBlankLine: (response) => response.writeHead(200, SSE).end(`${EVENTS.join("")}data: [DONE]`),
  errorInStream: endingIn('data: {"error":{"message":"overloaded","code":503}}\n\n'),
  errorAtOnce: (response, context) =>
    context.earlier > 0
      ? well(response, context)
      : response.writeHead(200, SSE).end('data: {"error":{"message":"overloaded"}}\n\n'),
  /** An error with a good status. */
  error200: (response) =>
    response.writeHead(200, JSON_TYPE).end('{"error":{"message":"quota used up","code":429}}'),
  textError200: (response) => response.writeHead(200, JSON_TYPE).end('{"error":"overloaded"}'),
  noChoices: (response) =>
    response
      .writeHead(200, JSON_TYPE)
      .end(COMPLETION.replace(/"choices":\[.*\],/, '"choices": [ ],')),
  /** Repeat the key of the request. */
  keyIn400: (response, { key }) =>
    response.writeHead(400, JSON_TYPE).end(JSON.stringify({ error: { message: `bad: ${key}` } })),
  keyIn500: (response, { key }) => response.writeHead(500).end(`trace: ${key}`),
  keyIn200: (response, { key }) =>
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ error: { message: key, code: 400 } })),
  keyInStream: async (response, { key }) => {
    await beginStream(response);
    response.end(`data: ${JSON.stringify({ error: { message: `no ${key}` } })}\n\n`);
  },
  halfJson: (response) => response.writeHead(200, JSON_TYPE).end(COMPLETION.slice(0, 60)),
  /** Sends less than its Content-Length. */
  shortBody: (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": COMPLETION.length });
    response.write(COMPLETION.slice(0, 60));
    response.socket!.end();
  },
  hugeLine: async (response) => {
    response.writeHead(200, SSE);
    response.write(EVENTS[0]);
    const piece = "x".repeat(2 ** 16);
    response.write('data: {"a":"');
    for (let sent = 0; sent < 10 * 2 ** 20 && !response.destroyed; sent += piece.length) {
      if (!response.write(piece)) await later(1);
    }
    response.end('"}\n\n');
  },
  endless: async (response) => {
    response.writeHead(200, SSE);
    while (!response.destroyed) {
      if (!response.write(chunk({ content: "again ".repeat(1000) }))) await later(1);
    }
  },
  rateLimited: (response) => refuse(response, 429, { "retry-after": "3600" }),
  rateLimitedOnce: (response, context) =>
    context.earlier === 0 ? refuse(response, 429, { "retry-after": "2" }) : well(response, context),
  error500: (response) => refuse(response, 500),
  error503Twice: (response, context) =>
    context.earlier < 2 ? refuse(response, 503) : well(response, context),
  error400: (response) => refuse(response, 400),
  error401: (response) => refuse(response, 401),
  hugeError: async (response) => {
    response.writeHead(500);
    for (let i = 0; i < 200 && !response.destroyed; i++) {
      if (!response.write("e".repeat(2 ** 16))) await later(1);
    }
    response.end();
  },
  redirect: (response) => response.writeHead(302, { location: "/well/v1/chat/completions" }).end(),
  /** Describes an error in JSON with status 200. */
  errorForStream: (response) =>
    response.writeHead(200, JSON_TYPE).end(
      JSON.stringify({
        error: {
          message: "This model's maximum context length is 5 tokens",
          type: "invalid_request_error",
        },
      }),
    ),
  html: (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"),
  /** Sends a stream with another content type. */
  plainText: (response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end(EVENTS.join("") + DONE_EVENT),
  jsonForStream: (response) => response.writeHead(200, JSON_TYPE).end(COMPLETION),
  gzip: (response) =>
    response.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" }).end("\x1f\x8b"),
  namedEvents: (response) => {
    const events = EVENTS.map(
      (event, i) => `: hi\r\nid: ${i}\r\nevent: message\r\n${event.replaceAll("\n", "\r\n")}`,
    );
    response.writeHead(200, SSE).end(`: keep-alive\n\n${events.join("")}${DONE_EVENT}`);
  },
  models: (response) =>
    response.writeHead(200, JSON_TYPE).end('{"object":"list","data":[{"id":"a"},{"id":"b"}]}'),
} satisfies Record<string, Behaviour>;
