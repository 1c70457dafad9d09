import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { CODECS } from "./codecs.ts";
import { changedAnswer } from "./items/accumulate.ts";
import type { Usage } from "./items/answer.ts";
import type { StreamParser } from "./items/codec.ts";
import { restoringCustomCalls } from "./items/custom.ts";
import { type Emit, type ItemEvent, mappingItems } from "./items/event.ts";
import type { Item } from "./items/item.ts";
import type { ItemRequest } from "./items/request.ts";
import { answeringFromTool } from "./items/schema-tool.ts";
import { restoredName, type ToolNames } from "./items/tool-names.ts";
import { inNamespace, type Namespaces } from "./responses/namespaces.ts";

/** Members that the gateway adds to an answer if the upstream's dialect lacks them. */
interface Head {
  /** Seconds since 1970. */
  readonly created?: number | undefined;
  /** Returns the present time in seconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** Returns a new id, for calls without one and for responses. */
  readonly newId?: (() => string) | undefined;
  /** Estimate of the prompt's tokens, for streams that report them before the upstream has counted them. */
  readonly usage?: Usage | undefined;
}

/** Dialects of both sides and the request of the client. */
export interface Sides {
  readonly upstream: DialectName;
  readonly client: DialectName;
  readonly request: ItemRequest;
  /** Name of the tool whose arguments are the answer. */
  readonly answerTool?: string | undefined;
  /** Namespaces of the client's functions. */
  readonly namespaces?: Namespaces | undefined;
  /** The client's functions that have another name at the upstream. */
  readonly names?: ToolNames | undefined;
  /** Name of the model that the signatures of reasoning carry. */
  readonly model?: string | undefined;
  readonly head?: Head | undefined;
}

/** Translates a complete answer of the upstream to the client's dialect. */
export function translateAnswer(body: Json, sides: Sides): Json {
  const { upstream, client, request } = sides;
  const answer = CODECS[upstream].parseAnswer(body);
  return CODECS[client].writeAnswer(
    changedAnswer(answer, (emit) => forClient(sides, emit)),
    request,
  );
}

/** Returns a function that changes the events of an upstream's answer for the client and passes them to `emit`. */
function forClient(sides: Sides, emit: Emit): Emit {
  const { request, answerTool } = sides;
  const restored = restoringCustomCalls(request, (event) => emit(completed(event, sides)));
  const whole = answerTool === undefined ? restored : answeringFromTool(answerTool, restored);
  return mappingItems(ownItem(sides), whole);
}

/** Adds members that the upstream's dialect lacks. Reasoning gets the name under which clients know the model. */
function completed(event: ItemEvent, sides: Sides): ItemEvent {
  const { model, head } = sides;
  switch (event.type) {
    case "start": {
      const { id, created = head?.created, usage = head?.usage } = event;
      return { ...event, id: ownId(id, sides), created, usage };
    }
    case "done": {
      const { origin } = event;
      return origin && model !== undefined ? { ...event, origin: { ...origin, model } } : event;
    }
    case "end":
      return { ...event, completed: head?.now?.() };
    default:
      return event;
  }
}

/** Returns a function that gives a call the client's name of its function, and an id if it has none. */
function ownItem({ names = new Map(), namespaces = new Map(), head }: Sides): (item: Item) => Item {
  return (given) => {
    const item = inNamespace(restoredName(given, names), namespaces);
    const needsId = item.type === "function_call" && item.callId === "" && head?.newId;
    return needsId ? { ...item, callId: `call_${needsId()}` } : item;
  };
}

/** Start of the ids of answers, which some clients rely on. */
const ID_PREFIXES: Readonly<Record<DialectName, string>> = {
  chat: "chatcmpl-",
  responses: "resp_",
  messages: "msg_",
};

/** The id of an answer in a dialect: an id with the dialect's prefix. */
export function answerId(dialect: DialectName, id: string): string {
  return `${ID_PREFIXES[dialect]}${id}`;
}

/**
 * The id of an answer in the client's dialect, from its id in the upstream's dialect. In Responses it is a new one: the
 * ids of items contain it, clients refer to them later, and some upstreams repeat their ids (Ollama) or send none.
 */
function ownId(id: string, { client, head }: Sides): string {
  if (client === "responses" && head?.newId) return answerId(client, head.newId());
  return id.startsWith(ID_PREFIXES[client]) ? id : answerId(client, id.replace(/^[a-z]+[_-]/, ""));
}

/** A comment that shows the client, and proxies before it, that the connection is alive. */
export const ALIVE = ":\n\n";
/** Matches the events of Messages and Responses that only keep the connection alive. */
const PING = /^\s*\{\s*"type"\s*:\s*"(ping|keepalive)"/;

/** Translates a stream of the upstream to the client's dialect, event by event. */
export class StreamTranslator {
  readonly #parser: StreamParser;
  readonly #emit: Emit;
  /** Events for the client that were written since the last return. */
  #out = "";

  constructor(sides: Sides) {
    const writer = CODECS[sides.client].streamWriter(sides.request);
    this.#parser = CODECS[sides.upstream].streamParser();
    this.#emit = forClient(sides, (event) => {
      this.#out += writer.write(event);
    });
  }

  /** Takes the data of one server-sent event and returns the client's events, or "". */
  push(data: string): string {
    this.#out = "";
    this.#parser.push(data, this.#emit);
    return this.#out === "" && PING.test(data) ? ALIVE : this.#out;
  }

  /** Returns the client's last events, after the upstream's last byte. */
  end(): string {
    this.#out = "";
    this.#parser.end(this.#emit);
    return this.#out;
  }
}
