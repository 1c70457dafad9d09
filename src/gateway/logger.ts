import { destination, type Logger, pino, stdTimeFunctions } from "pino";

/** Structured lines. Nobody logs headers or bodies; should somebody, what is secret is left out. */
export function newLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: ["key", "*.key", "authorization", "*.authorization", "headers", "*.headers", "body"],
        censor: "[secret]",
      },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 1000 }),
  );
}
