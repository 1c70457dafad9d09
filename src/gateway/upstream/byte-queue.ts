/**
 * Bytes from one who pushes to one who pulls. By hand rather than a stream or an
 * async generator: there is one hop for each piece and nothing else.
 */
export class ByteQueue implements AsyncIterableIterator<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
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
    if (this.#reader) {
      this.#reader.resolve({ done: false, value: bytes });
      this.#reader = undefined;
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
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
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) this.#finish().then(reader.resolve, reader.reject);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const bytes = this.#waiting.shift();
    if (bytes) {
      this.#bytes -= bytes.length;
      if (this.#isFull && this.#bytes <= LOW) {
        this.#isFull = false;
        this.#flow.resume();
      }
      return Promise.resolve({ done: false, value: bytes });
    }
    if (this.#isClosed) return this.#finish();
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** The reader leaves early. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#waiting.length = 0;
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#flow.stop();
    }
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
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

/** Enough to keep a reader busy; past it the upstream is held back, so that a slow client costs no memory. */
const HIGH = 64 * 1024;
const LOW = 16 * 1024;

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };
