import { isFinishReason, readUsage } from "../../codecs/chat/usage.ts";
import { JsonError, type Members, scanObject } from "../../wire/json.ts";
import { errorIn, hasError } from "../upstream/error.ts";
import type { Keep } from "../upstream/event-cutter.ts";
import { EventReader } from "../upstream/event-reader.ts";
import { tokensAdded } from "../upstream/text-tokens.ts";
import type { Pass, Translation } from "../upstream/upstream.ts";
import type { Usage } from "../upstream/usage.ts";

/**
 * A stream in OpenAI's format. Its events are passed on unchanged and are read only to find the
 * usage and to check that each is complete. Parsing and writing every event again would take
 * several times as long.
 */
export class OpenAiStream implements Translation {
  usage: Usage | undefined;
  events = 0;
  /** Estimate by the text. Many upstreams send several tokens in one event, and some their whole answer. */
  tokens = 0;
  isDone = false;
  readonly #upstream: string;
  readonly #hideUsage: boolean;
  readonly #reader: EventReader;
  /** The last two events: one has the finish reason, and one with usage may follow it. */
  #last: Members | undefined;
  #lastButOne: Members | undefined;
  /** Whether a part of an answer has arrived. Some upstreams end a failed request with [DONE] alone. */
  #hasChoice = false;

  /** `hideUsage` drops the event that has only usage, because the client did not request it. */
  constructor(upstream: string, hideUsage: boolean, maxEventBytes: number) {
    this.#upstream = upstream;
    this.#hideUsage = hideUsage;
    this.#reader = new EventReader(upstream, maxEventBytes, this.#keep);
  }

  push(chunk: Buffer, pass: Pass): void {
    this.#reader.push(chunk, pass);
  }

  end(pass: Pass): void {
    this.#reader.end(pass);
    if (this.isDone || isFinal(this.#last) || isFinal(this.#lastButOne)) return;
    throw this.#reader.incomplete(this.events);
  }

  readonly #keep: Keep = (bytes, start, end) => {
    if (this.isDone) return false;
    const plain = this.#reader.isOneLine ? plainData(bytes, start, end) : undefined;
    if (plain) return this.#keepData(plain);
    const data = this.#fieldData(bytes, start, end);
    // A comment before the first data is dropped, because passing it on would prevent a retry.
    const isKept = data === undefined ? this.events > 0 : this.#keepData(data);
    return isKept && this.#reader.passed(bytes, start);
  };

  #keepData(data: Members | typeof DONE): boolean {
    if (data === DONE) {
      if (!this.#hasChoice) throw this.#reader.incomplete(0);
      this.isDone = true;
      return true;
    }
    if (hasError(data)) throw errorIn(this.#upstream, data);
    const hasUsage = this.#readUsage(data);
    if (hasUsage && this.#hideUsage && choicesIn(data)?.length === 0) return false;
    this.#hasChoice ||= (choicesIn(data)?.length ?? 0) > 0;
    this.#lastButOne = this.#last;
    this.#last = data;
    this.events++;
    this.tokens += tokensAdded(data, "choices");
    return true;
  }

  #readUsage(data: Members): boolean {
    const name = isObject(data, "usage")
      ? "usage"
      : isObject(data, "x_groq")
        ? "x_groq"
        : undefined;
    if (name === undefined) return false;
    const value = data.value(name) as Record<string, unknown>;
    const usage = readUsage(name === "usage" ? value : value.usage);
    this.usage = usage ?? this.usage;
    return usage !== undefined;
  }

  /** Data of an event that has comments, a name, or data on several lines. */
  #fieldData(bytes: Buffer, start: number, end: number): Members | typeof DONE | undefined {
    const data = this.#reader.dataIn(bytes, start, end);
    if (data === undefined) return undefined;
    if (data === "[DONE]") return DONE;
    return this.#reader.objectIn(data);
  }
}

const DONE = Symbol("[DONE]");

/** Data of an event that is one line of data, as nearly all are. Undefined for other events. */
function plainData(bytes: Buffer, start: number, end: number): Members | typeof DONE | undefined {
  for (let i = 0; i < PREFIX.length; i++) if (bytes[start + i] !== PREFIX[i]) return undefined;
  let from = start + PREFIX.length;
  while (bytes[from] === 0x20) from++;
  if (bytes[from] === 0x5b) {
    return bytes.toString("latin1", from, end).trimEnd() === "[DONE]" ? DONE : undefined;
  }
  try {
    return scanObject(bytes, from, end);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const PREFIX = Buffer.from("data:");

function isObject(data: Members, name: string): boolean {
  const member = data.find(name);
  return member !== undefined && data.json[member.valueStart] === 0x7b;
}

function choicesIn(data: Members | undefined): readonly { finish_reason?: unknown }[] | undefined {
  const choices = data?.value("choices");
  return Array.isArray(choices) ? choices : undefined;
}

function isFinal(data: Members | undefined): boolean {
  return choicesIn(data)?.some((choice) => isFinishReason(choice?.finish_reason)) ?? false;
}
