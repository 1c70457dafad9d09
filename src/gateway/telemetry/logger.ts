import { type DestinationStream, type Logger, pino } from "pino";
import { redacted } from "../wire/secrets.ts";
import { StandardError } from "./standard-error.ts";

/**
 * Logger that writes JSON lines. Headers and bodies are never logged. Of an error only the fields
 * in `plainError` are logged, because an upstream's error contains the upstream's response.
 * Known secrets are removed from every line.
 */
export function newLogger(level: string, stream: DestinationStream = new StandardError()): Logger {
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

let lastMs = Number.NaN;
let lastTime = "";

/** The member `time` of a line. Under load many lines share their millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTime;
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
