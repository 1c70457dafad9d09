/**
 * onnxruntime-node aborts the whole process when its thread is ended in the
 * midst of a call, and process.exit() ends all threads. So the thread makes its
 * calls inside of a gate, which the main thread shuts before it exits: it then
 * waits until the call is over, and the thread makes no other.
 */
export class NativeGate {
  /** One number that both threads see. */
  readonly memory: Int32Array<SharedArrayBuffer>;

  constructor(memory = new Int32Array(new SharedArrayBuffer(4))) {
    this.memory = memory;
  }

  /** The thread's side. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    this.#move(EMPTY, INSIDE);
    try {
      return await work();
    } finally {
      this.#move(INSIDE, EMPTY);
    }
  }

  /** The main thread's side: returns, after a while, with nobody inside. */
  shut(): void {
    if (Atomics.exchange(this.memory, 0, SHUT) !== INSIDE) return;
    Atomics.wait(this.memory, 0, SHUT, LONGEST_CALL);
  }

  #move(from: number, to: number): void {
    if (Atomics.compareExchange(this.memory, 0, from, to) === from) return;
    Atomics.store(this.memory, 0, STOPPED);
    Atomics.notify(this.memory, 0);
    Atomics.wait(this.memory, 0, STOPPED); // for good: the thread is about to be ended
  }
}

const [EMPTY, INSIDE, SHUT, STOPPED] = [0, 1, 2, 3];
const LONGEST_CALL = 30_000; // milliseconds
