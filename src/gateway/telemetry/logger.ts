import { type DestinationStream, type Logger, pino, symbols } from "pino";
import { redacted } from "../wire/secrets.ts";
import { standardError } from "./standard-error.ts";

/**
 * Logger that writes JSON lines. Headers and bodies are never logged. Only the fields of an error
 * that `plainError` returns are logged, because an upstream's error contains the upstream's
 * response. Known secrets are removed from every line.
 */
export function newLogger(level: string, stream: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: { err: plainError },
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redacted },
    },
    stream,
  );
}

/** A request that has ended, as it is logged. */
interface EndedRequest {
  readonly method: string;
  /** Path of the route. */
  readonly path: string;
  readonly status: number;
  /** Time from the headers of the request to the end of the response. */
  readonly ms: number;
  readonly decision: string | undefined;
}

/**
 * Logs a request that has ended. The line is the same that `logger.info(request, "request")` would write, but
 * takes a third of the time, because nothing in it has to be inspected.
 */
export function logRequest(logger: Logger, request: EndedRequest): void {
  if (!logger.isLevelEnabled("info")) return;
  const { method, path, status, ms, decision } = request;
  const id = decision === undefined ? "" : `,"decision":"${decision}"`;
  const head = `{"level":"info"${isoTime()},"method":"${method}","path":"${path}"`;
  const { [symbols.streamSym]: stream } = logger as unknown as Streamed;
  stream.write(redacted(`${head},"status":${status},"ms":${ms}${id},"msg":"request"}\n`));
}

/** The stream that a logger of pino writes to. */
interface Streamed {
  readonly [symbols.streamSym]: DestinationStream;
}

let lastSecond = Number.NaN;
let lastTime = "";

/** The member `time` of a line. All lines of a second share the text of their time up to the milliseconds. */
function isoTime(): string {
  const now = Date.now();
  const ms = now % 1000;
  if (now - ms !== lastSecond) {
    lastSecond = now - ms;
    lastTime = `,"time":"${new Date(now).toISOString().slice(0, -4)}`;
  }
  return `${lastTime}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z"`;
}

function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message,
    stack,
    ...("code" in error && { code: error.code }),
    ...("hint" in error && { hint: error.hint }),
    ...(cause instanceof Error && { cause: cause.message }),
  };
}
