import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
import { redacted } from "../wire/secrets.ts";

/**
 * Logger that writes JSON lines. Headers and bodies are never logged. Of an error only the fields
 * in `plainError` are logged, because an upstream's error contains the upstream's response.
 * Known secrets are removed from every line.
 */
export function newLogger(level: string, stream: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: { err: plainError },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redacted },
    },
    stream,
  );
}

/** Collects lines and writes them together, so that no request waits for the log. */
function standardError(): DestinationStream {
  return destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 1000 });
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
