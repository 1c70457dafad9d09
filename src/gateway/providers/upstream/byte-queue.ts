/**
 * Queue of bytes between the code that receives them and the code that reads them. It is
 * written by hand, because a stream or an async generator costs more per piece. Bytes that are
 * waiting are read as one piece, so that a burst from the network is written to the client once.
 */
export class ByteQueue implements AsyncIterableIterator<Uint8Array> {
  #waiting: Uint8Array[] = [];
  readonly #flow: Flow;
  #bytes = 0;
  #isFull = false;
  #isClosed = false;
  #error: unknown;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  push(bytes: Uint8Array): void {
    if (this.#isClosed || bytes.length === 0) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    // The microtask runs after all chunks of the same socket read have been pushed.
    if (this.#reader && this.#waiting.length === 1) queueMicrotask(this.#serve);
    if (this.#bytes >= HIGH && !this.#isFull) {
      this.#isFull = true;
      this.#flow.pause();
    }
  }

  /** Ends the queue. An error is thrown after the waiting bytes have been read. */
  close(error?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#error = error;
    if (this.#reader) queueMicrotask(this.#serve);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#waiting.length > 0) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#isClosed) return this.#finish();
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** All bytes, if they have arrived and nothing was read yet. Undefined if they have not, or if the answer broke off. */
  takeWhole(): Uint8Array | undefined {
    if (!this.#isClosed || this.#error !== undefined || this.#waiting.length === 0)
      return undefined;
    return this.#take();
  }

  /** Called if the reader leaves the loop early. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#waiting = [];
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#flow.stop();
    }
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #serve = (): void => {
    const reader = this.#reader;
    if (!reader) return;
    this.#reader = undefined;
    if (this.#waiting.length > 0) reader.resolve({ done: false, value: this.#take() });
    else this.#finish().then(reader.resolve, reader.reject);
  };

  #take(): Uint8Array {
    const all = this.#waiting;
    const bytes = all.length === 1 ? all[0]! : Buffer.concat(all, this.#bytes);
    this.#waiting = [];
    this.#bytes = 0;
    if (this.#isFull) {
      this.#isFull = false;
      this.#flow.resume();
    }
    return bytes;
  }

  async #finish(): Promise<IteratorResult<Uint8Array>> {
    const error = this.#error;
    this.#error = undefined; // an error is thrown once
    if (error !== undefined) throw error;
    return DONE;
  }
}

/** Controls of the code that pushes. */
export interface Flow {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Bytes above which the upstream is paused, so that a slow client costs little memory. */
const HIGH = 64 * 1024;

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };
