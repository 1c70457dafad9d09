import { createParser } from "eventsource-parser";
import { JsonError, type Members, scanObject } from "../../wire/json.ts";
import { UpstreamError } from "./error.ts";
import { EventCutter, EventTooLarge, type Keep } from "./event-cutter.ts";
import type { Pass } from "./upstream.ts";

/** Reads the events of an upstream's stream one by one and passes on those that `keep` keeps. */
export class EventReader {
  readonly #upstream: string;
  readonly #keep: Keep;
  readonly #cutter: EventCutter;
  /** Data of the event that the parser has read last. */
  #data: string | undefined;
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#data = data;
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

  /** Reads the rest. Some hosts omit the blank line after the last event; `keep` detects an incomplete event. */
  end(pass: Pass): void {
    const rest = this.#cutter.end();
    if (rest.length === 0) return;
    const event = Buffer.concat([rest, Buffer.from("\n\n")]);
    if (this.#keep(event, 0, event.length)) pass(event);
  }

  /** The data of the event in these bytes, or undefined if the event has none, such as a comment. */
  dataIn(bytes: Buffer, start: number, end: number): string | undefined {
    this.#data = undefined;
    // The parser waits for the byte after a CR, which may be an LF.
    this.#parser.feed(`${bytes.toString("utf8", start, end)}\n`);
    return this.#data || undefined;
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
