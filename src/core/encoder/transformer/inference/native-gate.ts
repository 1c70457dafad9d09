/**
 * Keeps a thread from being ended during a native call. onnxruntime-node aborts the
 * whole process in that case, and process.exit() ends all threads. So the thread
 * makes its calls through a gate, which the main thread shuts before it exits:
 * shutting waits for the running call and prevents further ones.
 */
export class NativeGate {
  /** The state of the gate, shared by both threads. */
  readonly memory: Int32Array<SharedArrayBuffer>;

  constructor(memory = new Int32Array(new SharedArrayBuffer(4))) {
    this.memory = memory;
  }

  /** Makes a call; used by the thread. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    this.#move(EMPTY, INSIDE);
    try {
      return await work();
    } finally {
      this.#move(INSIDE, EMPTY);
    }
  }

  /** Waits for the running call and blocks all later ones; used by the main thread. */
  shut(): void {
    if (Atomics.exchange(this.memory, 0, SHUT) !== INSIDE) return;
    Atomics.wait(this.memory, 0, SHUT, LONGEST_CALL);
  }

  #move(from: number, to: number): void {
    if (Atomics.compareExchange(this.memory, 0, from, to) === from) return;
    Atomics.store(this.memory, 0, STOPPED);
    Atomics.notify(this.memory, 0);
    Atomics.wait(this.memory, 0, STOPPED); // forever: the process is about to end the thread
  }
}

const [EMPTY, INSIDE, SHUT, STOPPED] = [0, 1, 2, 3];
const LONGEST_CALL = 30_000; // milliseconds
