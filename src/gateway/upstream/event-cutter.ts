/**
 * Cuts server-sent events at their ends, so that whatever is passed on is whole.
 * A line ends in LF, CRLF or CR, and a blank one ends the event (HTML standard,
 * 9.2.6); the LF of a CRLF that ends an event counts as an event without data.
 * The bytes are those that came: a chunk of whole events is passed on as it is.
 */
export class EventCutter {
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #state = AFTER_LF;

  /** `maxBytes`: what an event may have before it is refused, since until its end it is kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** `keep` is asked about every event that the chunk completes; what it wants goes to `pass`. */
  push(chunk: Buffer, keep: Keep, pass: (bytes: Buffer) => void): void {
    let start = 0; // of the event
    let from = 0; // of what is kept and not passed on yet
    let state = this.#state;
    try {
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i]!;
        if (byte !== LF && byte !== CR) {
          state = TEXT;
        } else if (state === TEXT || (byte === LF && state === AFTER_CR)) {
          state = byte === LF ? AFTER_LF : AFTER_CR;
        } else {
          state = AFTER_LF;
          const end = i + 1;
          if (this.#heldBytes > 0) {
            this.#hold(chunk.subarray(0, end));
            const event = this.#release();
            from = end;
            if (keep(event, 0, event.length)) pass(event);
          } else if (!keep(chunk, start, end)) {
            if (start > from) pass(chunk.subarray(from, start));
            from = end;
          }
          start = end;
        }
      }
    } finally {
      // Also where `keep` throws: what came before was whole.
      if (start > from) pass(start - from === chunk.length ? chunk : chunk.subarray(from, start));
      this.#state = state;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** What was begun and not ended. */
  end(): Buffer {
    return this.#release();
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.#maxBytes) throw new EventTooLarge(this.#maxBytes);
    this.#held.push(bytes);
  }

  #release(): Buffer {
    const [first] = this.#held;
    const all = this.#held.length === 1 ? first! : Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }
}

/** Whether the event in these bytes is to be passed on. */
export type Keep = (bytes: Buffer, start: number, end: number) => boolean;

export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";

  constructor(maxBytes: number) {
    super(`an event has more than ${maxBytes} bytes`);
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** What the last byte was: of a line, or the end of one. */
const TEXT = 0;
const AFTER_LF = 1;
const AFTER_CR = 2;
