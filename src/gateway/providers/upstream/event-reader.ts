import { createParser, type EventSourceMessage } from "eventsource-parser";
import { JsonError, type Members, scanObject } from "../../wire/json.ts";
import { UpstreamError } from "./error.ts";
import { EventCutter, EventTooLarge, type Keep } from "./event-cutter.ts";
import type { Pass } from "./upstream.ts";

/** Reads the events of an upstream's stream one by one and passes on those that `keep` keeps. */
export class EventReader {
  readonly #upstream: string;
  readonly #keep: Keep;
  readonly #cutter: EventCutter;
  /** The event that the parser has read last. */
  #event: EventSourceMessage | undefined;
  readonly #parser = createParser({
    onEvent: (event) => {
      this.#event = event;
    },
    onError: () => {
      throw this.broken("sent a line that belongs to no event");
    },
  });

  constructor(upstream: string, maxEventBytes: number, keep: Keep) {
    this.#upstream = upstream;
    this.#keep = keep;
    this.#cutter = new EventCutter(maxEventBytes);
  }

  push(chunk: Buffer, pass: Pass): void {
    try {
      this.#cutter.push(chunk, this.#keep, pass);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      throw new UpstreamError("too_large", this.#upstream, `sent too much: ${error.message}`);
    }
  }

  /** Reads the rest. Some upstreams omit the blank line after the last event; `keep` detects an incomplete event. */
  end(pass: Pass): void {
    const rest = this.#cutter.end();
    if (rest.length === 0) return;
    const event = Buffer.concat([rest, Buffer.from("\n\n")]);
    const kept = this.#keep(event, 0, event.length);
    if (kept) pass(kept === true ? event : kept);
  }

  /** Whether the event is one line that ends in LF or CRLF, as nearly all events of chat completions are. */
  get isOneLine(): boolean {
    return this.#cutter.lines <= 1 && !this.#cutter.hasBareCr;
  }

  /**
   * The bytes to pass on for the event that `dataIn` has read: true if they can stay as they are. An event
   * with data on several lines, with lines that end in CR or with a byte order mark is written in the
   * usual form, so that all later steps can read data line by line. An event with empty data becomes a comment,
   * because clients fail to read its data as JSON.
   */
  passed(bytes: Buffer, start: number): true | Buffer {
    const { event, id, data } = this.#last() ?? {};
    const isUsual =
      !this.#cutter.hasBareCr && bytes[start] !== BYTE_ORDER_MARK && !data?.includes("\n");
    if (isUsual && data !== "") return true;
    if (!data) return Buffer.from(":\n\n");
    const fields = [...(event ? [`event: ${event}`] : []), ...(id ? [`id: ${id}`] : [])];
    // Data is JSON, in which a line break can only be white space.
    return Buffer.from(`${[...fields, `data: ${data.replaceAll("\n", " ")}`].join("\n")}\n\n`);
  }

  /** The data of the event in these bytes, or undefined if the event has none, such as a comment. */
  dataIn(bytes: Buffer, start: number, end: number): string | undefined {
    this.#event = undefined;
    const text = bytes.toString("utf8", start, end);
    // With lines that end in CR, the parser would search the rest of the event for each line.
    this.#parser.feed(this.#cutter.hasBareCr ? text.replaceAll(BARE_CR, "\n") : text);
    return this.#last()?.data || undefined;
  }

  #last(): EventSourceMessage | undefined {
    return this.#event;
  }

  /** The JSON object in the data of an event. */
  objectIn(data: string): Members {
    try {
      return scanObject(Buffer.from(data));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw this.broken(`sent a broken event: ${error.message}`);
    }
  }

  /** The error of a stream that ended before its answer was complete. */
  incomplete(events: number): UpstreamError {
    return this.broken(events === 0 ? "sent no answer" : "sent an incomplete answer");
  }

  broken(problem: string): UpstreamError {
    return new UpstreamError("broken", this.#upstream, problem);
  }
}

const BARE_CR = /\r\n?/g;
/** First byte of a byte order mark in UTF-8. */
const BYTE_ORDER_MARK = 0xef;
