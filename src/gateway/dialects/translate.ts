import type { Json } from "../wire/json.ts";
import { CODECS } from "./codecs.ts";
import type { StreamParser } from "./items/codec.ts";
import { restoreCustomCalls, restoringCustomCalls } from "./items/custom.ts";
import type { Emit, ItemEvent } from "./items/event.ts";
import type { DialectName } from "./items/item.ts";
import type { ItemRequest } from "./items/request.ts";

/** Dialects of both sides and the request of the client. */
interface Sides {
  readonly upstream: DialectName;
  readonly client: DialectName;
  readonly request: ItemRequest;
}

/** Translates a complete answer of the upstream to the client's dialect. */
export function translateAnswer(body: Json, { upstream, client, request }: Sides): Json {
  const answer = restoreCustomCalls(CODECS[upstream].parseAnswer(body), request);
  return CODECS[client].writeAnswer(answer, request);
}

/** Translates a stream of the upstream to the client's dialect, event by event. */
export class StreamTranslator {
  readonly #parser: StreamParser;
  readonly #emit: Emit;
  /** Events for the client that the present data have given. */
  #out = "";

  /** `watch` sees each event, to count tokens or to keep the text. */
  constructor({ upstream, client, request }: Sides, watch?: (event: ItemEvent) => void) {
    const writer = CODECS[client].streamWriter(request);
    this.#parser = CODECS[upstream].streamParser();
    this.#emit = restoringCustomCalls(request, (event) => {
      watch?.(event);
      this.#out += writer.write(event);
    });
  }

  /** Takes the data of one server-sent event and returns the client's events, or "". */
  push(data: string): string {
    this.#out = "";
    this.#parser.push(data, this.#emit);
    return this.#out;
  }

  /** Returns what is due at the end of the upstream's bytes. */
  end(): string {
    this.#out = "";
    this.#parser.end(this.#emit);
    return this.#out;
  }
}
