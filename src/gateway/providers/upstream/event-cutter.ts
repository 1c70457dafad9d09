import { Chunks } from "../../wire/chunks.ts";

/**
 * Splits a stream of server-sent events at the ends of events, so that only whole events are
 * passed on. A line ends in LF, CRLF or CR, and a blank line ends an event (HTML standard,
 * 9.2.6). If a CRLF is split between two chunks, its LF counts as an event without data. Bytes
 * are not copied if a chunk consists of whole events.
 */
export class EventCutter {
  readonly #maxBytes: number;
  /** The beginning of an incomplete event. */
  readonly #held = new Chunks();
  #state = AFTER_LF;
  /** Lines of the event before the blank one. */
  lines = 0;
  /** Whether a line of the event ends in a CR alone. */
  hasBareCr = false;

  /** `maxBytes` limits the size of an event, because an event is kept until it is complete. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Calls `keep` for each event that the chunk completes, and passes the kept ones to `pass`. */
  push(chunk: Buffer, keep: Keep, pass: (bytes: Buffer) => void): void {
    const lines = new LineEnds(chunk);
    let start = 0; // start of the event
    let from = 0; // start of the kept events that have not been passed on
    try {
      for (let end = this.#nextEnd(lines, 0); end > 0; end = this.#nextEnd(lines, end)) {
        if (this.#held.bytes > 0) {
          this.#hold(chunk.subarray(0, end));
          const event = this.#held.take();
          from = end;
          const kept = keep(event, 0, event.length);
          if (kept) pass(kept === true ? event : kept);
        } else {
          const kept = keep(chunk, start, end);
          if (kept !== true) {
            if (start > from) pass(chunk.subarray(from, start));
            from = end;
            start = end;
            if (kept) pass(kept);
          }
        }
        start = end;
        this.lines = 0;
        this.hasBareCr = false;
      }
    } finally {
      // If `keep` throws, the events before are passed on as well.
      if (start > from) pass(start - from === chunk.length ? chunk : chunk.subarray(from, start));
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** Returns the bytes of an incomplete event. */
  end(): Buffer {
    return this.#held.take();
  }

  /** Offset after the next blank line, or 0 if the chunk has none. */
  #nextEnd(lines: LineEnds, from: number): number {
    const { chunk } = lines;
    for (let at = from; at < chunk.length; ) {
      if (this.#state === AFTER_CR && chunk[at] !== LF) this.hasBareCr = true;
      // Most bytes are inside lines. The native search for a line's end is five times as fast.
      if (this.#state === TEXT || (chunk[at] !== LF && chunk[at] !== CR)) {
        at = lines.endOf(at);
        this.#state = TEXT;
        if (at === chunk.length) return 0;
      }
      const byte = chunk[at++];
      const isFirst = this.#state === TEXT || (byte === LF && this.#state === AFTER_CR);
      if (!isFirst) {
        this.#state = AFTER_LF;
        if (byte === LF) return at;
        if (chunk[at] === LF) return at + 1;
        this.hasBareCr = true;
        return at;
      }
      if (this.#state === TEXT) this.lines++;
      this.#state = byte === LF ? AFTER_LF : AFTER_CR;
    }
    return 0;
  }

  #hold(bytes: Buffer): void {
    if (this.#held.bytes + bytes.length > this.#maxBytes) throw new EventTooLarge(this.#maxBytes);
    this.#held.push(bytes);
  }
}

/** Returns whether to pass on the event in these bytes, or the bytes to pass on in their place. */
export type Keep = (bytes: Buffer, start: number, end: number) => boolean | Buffer;

export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";

  constructor(maxBytes: number) {
    super(`an event has more than ${maxBytes} bytes`);
  }
}

/** Finds the ends of lines in a chunk. Each byte is searched once for LF and once for CR, wherever the lines end. */
class LineEnds {
  readonly chunk: Buffer;
  #lf = -1;
  #cr = -1;

  constructor(chunk: Buffer) {
    this.chunk = chunk;
  }

  /** Offset of the first LF or CR from here on, or the end of the chunk. */
  endOf(from: number): number {
    if (this.#lf < from) this.#lf = this.#find(LF, from);
    if (this.#cr < from) this.#cr = this.#find(CR, from);
    return Math.min(this.#lf, this.#cr);
  }

  #find(byte: number, from: number): number {
    const found = this.chunk.indexOf(byte, from);
    return found < 0 ? this.chunk.length : found;
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** States after the last byte: inside a line, or after its end. */
const TEXT = 0;
const AFTER_LF = 1;
const AFTER_CR = 2;
