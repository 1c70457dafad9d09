import { write, writeSync } from "node:fs";
import type { DestinationStream } from "pino";

let shared: StandardError | undefined;

/** The destination of all loggers of this process. */
export function standardError(): DestinationStream {
  shared ??= new StandardError();
  return shared;
}

/**
 * Writes lines to stderr, many at a time and in the background, so that no request waits for the
 * log. If nobody reads them, lines beyond a limit are dropped. pino's own destination is not
 * used, because it never returns from its last write if the reader of stderr is gone, and the
 * process then never ends.
 */
class StandardError implements DestinationStream {
  #waiting = "";
  #isWriting = false;

  constructor() {
    setInterval(() => this.#flush(), FLUSH_MS).unref();
    process.on("exit", () => {
      try {
        writeSync(STDERR, this.#waiting);
      } catch {
        // Nobody reads stderr, and the process is about to end.
      }
    });
  }

  write(line: string): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting += line;
    if (this.#waiting.length >= ENOUGH) this.#flush();
  }

  #flush(): void {
    if (this.#isWriting || this.#waiting === "") return;
    this.#isWriting = true;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = "";
    this.#writeAll(bytes);
  }

  #writeAll(bytes: Buffer): void {
    write(STDERR, bytes, (error, written = 0) => {
      const rest = bytes.subarray(written);
      if (error?.code === "EAGAIN") setTimeout(() => this.#writeAll(rest), BUSY_MS).unref();
      else if (!error && rest.length > 0) this.#writeAll(rest);
      else this.#isWriting = false; // complete, or dropped because stderr is closed
    });
  }
}

const STDERR = 2;
/** Characters that are written at once, and the most that wait for a slow reader. A write costs a thread switch, so a busy server should make few. */
const ENOUGH = 32_768;
const MOST_WAITING = 2 ** 20;
const FLUSH_MS = 1000;
const BUSY_MS = 100;
