import { openAiError, statusOfError } from "../../codecs/errors.ts";
import { usageAfter } from "../../codecs/items/answer.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { isRecord, type Json, type Members, scanObject } from "../../wire/json.ts";
import { errorIn, hasError, refusal, type UpstreamError } from "./error.ts";
import type { Keep } from "./event-cutter.ts";
import { EventReader } from "./event-reader.ts";
import { tokensAdded, tokensIn } from "./text-tokens.ts";
import type { Pass, Translation } from "./upstream.ts";
import type { Usage } from "./usage.ts";
import { usageIn } from "./usage-in.ts";

/**
 * A stream of Responses or Messages, whose events have names. They are passed on unchanged. Each
 * event is checked to be complete, and only those with usage or an error are parsed.
 */
export class NamedEvents implements Translation {
  usage: Usage | undefined;
  events = 0;
  isDone = false;
  /** Estimated tokens of the deltas. */
  #added = 0;
  /** Estimated tokens of the items that are complete. They repeat the text of their deltas, if there were any. */
  #complete = 0;
  /** Whether the usage counts the whole answer. That of `message_start` counts only its beginning. */
  #isCounted = false;
  readonly #upstream: string;
  readonly #dialect: NamedDialect;
  readonly #reader: EventReader;

  constructor(upstream: string, dialect: NamedDialect, maxEventBytes: number) {
    this.#upstream = upstream;
    this.#dialect = dialect;
    this.#reader = new EventReader(upstream, maxEventBytes, this.#keep);
  }

  get tokens(): number {
    return Math.max(this.#added, this.#complete);
  }

  push(chunk: Buffer, pass: Pass): void {
    this.#reader.push(chunk, pass);
  }

  end(pass: Pass): void {
    this.#reader.end(pass);
    if (this.isDone) return;
    throw this.#reader.incomplete(this.events);
  }

  readonly #keep: Keep = (bytes, start, end) => {
    if (this.isDone) return false;
    const data = this.#dataOf(bytes, start, end);
    const type = data?.value("type");
    // Comments and pings before the first event are dropped, because they would prevent a retry.
    if (data === undefined || type === "ping") {
      return this.events > 0 && this.#reader.passed(bytes, start);
    }
    // Some upstreams send the body of an error response as an event.
    if (type === undefined && hasError(data)) throw errorIn(this.#upstream, data);
    this.#estimate(String(type), data);
    this.#see(String(type), data);
    this.events++;
    return this.#reader.passed(bytes, start);
  };

  #see(type: string, data: Members): void {
    switch (EFFECTS[this.#dialect][type]) {
      case "error":
        this.#count(data);
        throw this.#refusal(type, data);
      case "end":
        if (this.events === 0 && !hasOutput(data)) throw this.#reader.incomplete(0);
        this.isDone = true;
        this.#count(data);
        if (!this.usage) this.#complete = Math.max(this.#complete, tokensOfResponse(data));
        this.#complement();
        break;
      case "usage":
        this.#count(data);
        if (type === "message_delta") this.#isCounted ||= isRecord(data.value("usage"));
    }
  }

  #count(data: Members): void {
    const held = objectIn(data, HOLDERS[this.#dialect])?.value("usage");
    const counted = isRecord(held) ? held : data.value("usage");
    this.usage = usageAfter(this.usage, usageIn(this.#dialect, counted));
  }

  /** Adds the tokens of an event to the estimate. */
  #estimate(type: string, data: Members): void {
    if (type.endsWith("delta") && type !== "message_delta") {
      this.#added += tokensAdded(data, "delta");
    } else if (type === "content_block_start") {
      this.#added += tokensIn(data, ["content_block"]);
    } else if (type === "response.output_item.done") {
      this.#complete += tokensIn(data, ["item"]);
    }
  }

  /** Estimates what the upstream left out of the usage of a complete answer. */
  #complement(): void {
    if (this.#dialect !== "messages" || this.#isCounted || !this.usage) return;
    const completionTokens = Math.max(this.usage.completionTokens, this.tokens);
    this.usage = { ...this.usage, completionTokens };
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
    const data = this.#reader.dataIn(bytes, start, end);
    if (data === undefined || data === "[DONE]") return undefined;
    return this.#reader.objectIn(data);
  }
}

/** The members of an object in a member of an event, without parsing it. */
function objectIn(data: Members, name: string): Members | undefined {
  const member = data.find(name);
  if (!member || data.json[member.valueStart] !== OPEN_BRACE) return undefined;
  return scanObject(data.json, member.valueStart, member.valueEnd);
}

const OPEN_BRACE = 0x7b;

/** Estimated tokens of the whole answer, which the last event of Responses repeats. */
function tokensOfResponse(data: Members): number {
  const response = objectIn(data, "response");
  return response ? tokensIn(response, ["output"]) : 0;
}

function hasOutput(data: Members): boolean {
  const output = objectIn(data, "response")?.value("output");
  return Array.isArray(output) && output.length > 0;
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
