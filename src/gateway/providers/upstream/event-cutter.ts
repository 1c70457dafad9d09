/**
 * Cuts server-sent events at their ends, so that whatever is passed on is whole.
 * A line ends in LF, CRLF or CR, and a blank one ends the event (HTML standard,
 * 9.2.6); of a CRLF that is cut in two, the LF counts as an event without data.
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
    try {
      for (let end = this.#nextEnd(chunk, 0); end > 0; end = this.#nextEnd(chunk, end)) {
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
    } finally {
      // Also where `keep` throws: what came before was whole.
      if (start > from) pass(start - from === chunk.length ? chunk : chunk.subarray(from, start));
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** What was begun and not ended. */
  end(): Buffer {
    return this.#release();
  }

  /** The place after the next blank line; 0 where the chunk has none. */
  #nextEnd(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; ) {
      // Most bytes are of lines, and finding the end of one natively is five times as fast.
      if (this.#state === TEXT || (chunk[at] !== LF && chunk[at] !== CR)) {
        at = lineEnd(chunk, at);
        this.#state = TEXT;
        if (at === chunk.length) return 0;
      }
      const byte = chunk[at++];
      const isFirst = this.#state === TEXT || (byte === LF && this.#state === AFTER_CR);
      if (!isFirst) {
        this.#state = AFTER_LF;
        return byte === CR && chunk[at] === LF ? at + 1 : at;
      }
      this.#state = byte === LF ? AFTER_LF : AFTER_CR;
    }
    return 0;
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

/** The place of the first LF or CR, or the end. */
function lineEnd(chunk: Buffer, from: number): number {
  const found = chunk.indexOf(LF, from);
  const end = found < 0 ? chunk.length : found;
  if (end === from || chunk.lastIndexOf(CR, end - 1) < from) return end;
  return chunk.indexOf(CR, from); // the first of them
}

const LF = 0x0a;
const CR = 0x0d;

/** What the last byte was: of a line, or the end of one. */
const TEXT = 0;
const AFTER_LF = 1;
const AFTER_CR = 2;
