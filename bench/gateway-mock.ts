/**
 * A mock upstream with OpenAI's API that immediately sends the same response, so that all measured
 * time is the gateway's. Runs in its own process: node gateway-mock.ts PORT
 */
import { createServer, type ServerResponse } from "node:http";

const CHUNKS = 200;
/** Member of a request whose stream is paced, and the milliseconds between its chunks. */
const PACED = '"user":"paced"';
const PAUSE = 10;
const HEAD = { id: "chatcmpl-mock", created: 1_700_000_000, model: "mock" };
const TEXT = "The sky is blue because air scatters short waves of light more than long ones. ";
const USAGE = { prompt_tokens: 40, completion_tokens: CHUNKS, total_tokens: 40 + CHUNKS };

const WHOLE = JSON.stringify({
  ...HEAD,
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: TEXT.repeat(8) },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: USAGE,
});

const EVENTS = Array.from({ length: CHUNKS }, (_, i) => {
  const isLast = i === CHUNKS - 1;
  const delta = i === 0 ? { role: "assistant", content: "" } : isLast ? {} : { content: " word" };
  return event({ choices: [{ index: 0, delta, finish_reason: isLast ? "stop" : null }] });
});
const LAST = `${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  request.on("end", () => {
    if (/"stream": ?true/.test(body)) {
      const tokens = Number(/"max_(?:completion_)?tokens": ?(\d+)/.exec(body)?.[1] ?? CHUNKS);
      stream(response, tokens, body.includes("include_usage"), body.includes(PACED));
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(WHOLE);
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), "127.0.0.1");

/** Sends one event per iteration of the event loop or, if paced, per `PAUSE`, like a model that generates token by token. */
function stream(
  response: ServerResponse,
  tokens: number,
  wantsUsage: boolean,
  isPaced: boolean,
): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let left = Math.min(tokens, CHUNKS);
  const next = () => {
    if (response.destroyed) return;
    response.write(EVENTS[CHUNKS - left--]);
    if (left > 0 && isPaced) setTimeout(next, PAUSE);
    else if (left > 0) setImmediate(next);
    else response.end(wantsUsage ? LAST : "data: [DONE]\n\n");
  };
  next();
}

function event(more: object): string {
  return `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", ...more })}\n\n`;
}
