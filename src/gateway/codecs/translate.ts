import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { CODECS } from "./codecs.ts";
import type { Usage } from "./items/answer.ts";
import type { StreamParser } from "./items/codec.ts";
import { restoreCustomCalls, restoringCustomCalls } from "./items/custom.ts";
import type { Emit, ItemEvent } from "./items/event.ts";
import type { ItemRequest } from "./items/request.ts";

/** Members that the gateway sets in an answer. */
interface Head {
  readonly id: string;
  /** Name of the model as clients know it. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Estimate of the prompt's tokens, for dialects that name them before the upstream has. */
  readonly usage?: Usage;
}

/** Dialects of both sides and the request of the client. */
interface Sides {
  readonly upstream: DialectName;
  readonly client: DialectName;
  readonly request: ItemRequest;
  readonly head?: Head;
}

/** Translates a complete answer of the upstream to the client's dialect. */
export function translateAnswer(body: Json, { upstream, client, request, head }: Sides): Json {
  const answer = restoreCustomCalls(CODECS[upstream].parseAnswer(body), request);
  const usage = answer.usage ?? head?.usage;
  return CODECS[client].writeAnswer({ ...answer, ...head, usage }, request);
}

/** Translates a stream of the upstream to the client's dialect, event by event. */
export class StreamTranslator {
  readonly #parser: StreamParser;
  readonly #emit: Emit;
  /** Events for the client that the present data have given. */
  #out = "";

  /** `watch` sees each event, to count tokens or to keep the text. */
  constructor({ upstream, client, request, head }: Sides, watch?: (event: ItemEvent) => void) {
    const writer = CODECS[client].streamWriter(request);
    this.#parser = CODECS[upstream].streamParser();
    this.#emit = restoringCustomCalls(request, (event) => {
      watch?.(event);
      const isStart = event.type === "start" && head;
      const labelled = isStart ? { ...event, ...head, usage: event.usage ?? head.usage } : event;
      this.#out += writer.write(labelled);
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
