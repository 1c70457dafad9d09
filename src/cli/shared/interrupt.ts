/**
 * Ctrl-C and SIGTERM as an AbortSignal, for work that keeps what is done. The
 * second time they end the process as usual.
 */
export function interruptible() {
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
    /** What a shell expects of a process that a signal has ended; 0 if none came. */
    get code() {
      return code;
    },
    release() {
      for (const off of handlers) off();
    },
  };
}

const CODES = { SIGINT: 130, SIGTERM: 143 };
