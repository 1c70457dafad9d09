import { openAiError, statusOfError } from "../../codecs/errors.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { isRecord, type Json, JsonError, type Members, scanObject } from "../../wire/json.ts";
import { refusal, UpstreamError } from "./error.ts";
import { EventCutter, EventTooLarge } from "./event-cutter.ts";
import type { Pass, Translation } from "./upstream.ts";
import type { Usage } from "./usage.ts";
import { usageAfter, usageIn } from "./usage-in.ts";

/**
 * A stream of Responses or Messages, whose events have names. They are passed on unchanged. Each
 * event is checked to be complete, and only those with usage or an error are parsed.
 */
export class NamedEvents implements Translation {
  usage: Usage | undefined;
  events = 0;
  isDone = false;
  readonly #upstream: string;
  readonly #dialect: NamedDialect;
  readonly #cutter: EventCutter;

  constructor(upstream: string, dialect: NamedDialect, maxEventBytes: number) {
    this.#upstream = upstream;
    this.#dialect = dialect;
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

  end(pass: Pass): void {
    const rest = this.#cutter.end();
    if (rest.length > 0) {
      const event = Buffer.concat([rest, Buffer.from("\n\n")]);
      if (this.#keep(event, 0, event.length)) pass(event);
    }
    if (this.isDone) return;
    throw this.#broken(this.events === 0 ? "sent no answer" : "sent an incomplete answer");
  }

  readonly #keep = (bytes: Buffer, start: number, end: number): boolean => {
    if (this.isDone) return false;
    const data = this.#dataOf(bytes, start, end);
    // Comments and pings before the first event are dropped, because they would prevent a retry.
    if (data === undefined) return this.events > 0;
    const type = data.value("type");
    if (type === "ping") return this.events > 0;
    this.#see(String(type), data);
    this.events++;
    return true;
  };

  #see(type: string, data: Members): void {
    switch (EFFECTS[this.#dialect][type]) {
      case "error":
        throw this.#refusal(type, data);
      case "end":
        this.isDone = true;
        this.#count(data);
        break;
      case "usage":
        this.#count(data);
    }
  }

  #count(data: Members): void {
    const holder = data.value(HOLDERS[this.#dialect]);
    const counted = isRecord(holder) && isRecord(holder.usage) ? holder.usage : data.value("usage");
    this.usage = usageAfter(this.usage, usageIn(this.#dialect, counted));
  }

  /**
   * Makes the error of an event. The event `error` of Responses has the members of the
   * error at the top; in Messages they are in `error`.
   */
  #refusal(type: string, data: Members): UpstreamError {
    const response = type === "error" ? undefined : data.value("response");
    const error = isRecord(response) ? response.error : data.value("error");
    const { message, code } = { message: data.value("message"), code: data.value("code") };
    const found: Json = isRecord(error) ? error : { message, code };
    const body = Buffer.from(JSON.stringify(openAiError(found)));
    return refusal(this.#upstream, statusOfError(found), body, {});
  }

  /** The JSON object of an event, or undefined if it has no data. */
  #dataOf(bytes: Buffer, start: number, end: number): Members | undefined {
    const data = dataLines(bytes.toString("utf8", start, end));
    if (data === "" || data === "[DONE]") return undefined;
    try {
      return scanObject(Buffer.from(data));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw this.#broken(`sent a broken event: ${error.message}`);
    }
  }

  #broken(problem: string): UpstreamError {
    return new UpstreamError("broken", this.#upstream, problem);
  }
}

export type NamedDialect = Exclude<DialectName, "chat">;

/** Events that end the answer, report usage or report an error. */
const EFFECTS: Readonly<Record<NamedDialect, Readonly<Record<string, "end" | "usage" | "error">>>> =
  {
    messages: {
      message_start: "usage",
      message_delta: "usage",
      message_stop: "end",
      error: "error",
    },
    responses: {
      "response.completed": "end",
      "response.incomplete": "end",
      "response.failed": "error",
      error: "error",
    },
  };

/** Member of an event whose member `usage` counts tokens. */
const HOLDERS: Readonly<Record<NamedDialect, string>> = {
  messages: "message",
  responses: "response",
};

/** Joins the lines of data of one event. */
function dataLines(event: string): string {
  let data: string | undefined;
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line[5] === " " ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data ?? "";
}
