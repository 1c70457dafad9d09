/**
 * Bytes from one who pushes to one who pulls. By hand rather than a stream or an
 * async generator: there is one hop for each piece and nothing else. What was
 * pushed meanwhile is one piece, so that a burst from the network costs its
 * reader one write and not one for each of its chunks.
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
    // In a microtask: chunks that came in the same read of the socket are pushed before it runs.
    if (this.#reader && this.#waiting.length === 1) queueMicrotask(this.#serve);
    if (this.#bytes >= HIGH && !this.#isFull) {
      this.#isFull = true;
      this.#flow.pause();
    }
  }

  /** No more comes; with an error, which is thrown after what waits has been read. */
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

  /** The reader leaves early. */
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
    this.#error = undefined; // thrown once, as a generator would
    if (error !== undefined) throw error;
    return DONE;
  }
}

/** What the queue asks of the one who pushes. */
export interface Flow {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Past it the upstream is held back, so that a slow client costs no memory. */
const HIGH = 64 * 1024;

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };
