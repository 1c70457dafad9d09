import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";

/**
 * Structured lines. Nobody logs headers or bodies, and of an error only what is
 * written here: an upstream's error holds what the upstream has sent.
 */
export function newLogger(level: string, stream: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: { err: plainError },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** Many lines a write: nobody waits for a log. */
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
