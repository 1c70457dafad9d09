export interface Interrupt {
  readonly signal: AbortSignal;
  /** The exit code that a shell expects after the signal, or 0 if no signal arrived. */
  readonly code: number;
  release(): void;
}

/**
 * Turns the first Ctrl-C or SIGTERM into an AbortSignal, for work that saves what is done. A second
 * one ends the process as usual.
 */
export function interruptible(): Interrupt {
  const controller = new AbortController();
  let code = 0;
  const handlers = Object.entries(CODES).map(([name, exitCode]) => {
    const handle = () => {
      code = exitCode;
      controller.abort();
    };
    process.once(name, handle);
    return () => process.off(name, handle);
  });
  return {
    signal: controller.signal,
    get code() {
      return code;
    },
    release() {
      for (const off of handlers) off();
    },
  };
}

const CODES = { SIGINT: 130, SIGTERM: 143 };
