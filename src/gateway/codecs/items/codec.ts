import type { DialectName } from "../../wire/dialect-names.ts";
import type { Json } from "../../wire/json.ts";
import type { Answer } from "./answer.ts";
import type { Emit, ItemEvent } from "./event.ts";
import type { ItemRequest } from "./request.ts";

/**
 * Translates one dialect to the internal form and back. All functions are pure. Unknown members
 * and parts are kept for the same dialect and never make a parse fail.
 */
export interface Codec {
  readonly name: DialectName;
  parseRequest(body: Json): ItemRequest;
  writeRequest(request: ItemRequest): Json;
  parseAnswer(body: Json): Answer;
  /** `request` is the client's; some dialects repeat parts of it in the answer. */
  writeAnswer(answer: Answer, request?: ItemRequest): Json;
  streamParser(): StreamParser;
  streamWriter(request?: ItemRequest): StreamWriter;
}

export interface StreamParser {
  /**
   * Reads the data of one server-sent event and emits the item events that it contains. Throws a
   * SyntaxError if the data are not JSON.
   */
  push(data: string, emit: Emit): void;
  /** Emits the events that are still missing if the stream ended without its last event. */
  end(emit: Emit): void;
}

export interface StreamWriter {
  /** Returns the server-sent events of this item event, or "" if there are none yet. */
  write(event: ItemEvent): string;
}

/** One server-sent event with a name, as Responses and Messages write it. `json` is JSON text. */
export function sse(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`;
}
