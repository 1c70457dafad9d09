import type { DialectName } from "../wire/dialect-names.ts";
import type { Json } from "../wire/json.ts";
import { CODECS } from "./codecs.ts";
import { type Answer, mapItems, type Usage } from "./items/answer.ts";
import type { StreamParser } from "./items/codec.ts";
import { restoreCustomCalls, restoringCustomCalls } from "./items/custom.ts";
import { type Emit, type ItemEvent, mappingItems } from "./items/event.ts";
import type { ItemRequest } from "./items/request.ts";
import { answerFromTool, answeringFromTool } from "./items/schema-tool.ts";
import { restoredName, type ToolNames } from "./items/tool-names.ts";
import { inNamespace, type Namespaces } from "./responses/namespaces.ts";

/** Members that the gateway adds to an answer if the upstream's dialect lacks them. */
interface Head {
  /** Seconds since 1970. */
  readonly created?: number | undefined;
  /** Returns the present time in seconds since 1970. */
  readonly now?: (() => number) | undefined;
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
  const { upstream, client, request, answerTool, model, head } = sides;
  const { namespaces = new Map(), names = new Map() } = sides;
  const parsed = mapItems(fromModel(CODECS[upstream].parseAnswer(body), model), (item) =>
    inNamespace(restoredName(item, names), namespaces),
  );
  const answer = answerTool === undefined ? parsed : answerFromTool(parsed, answerTool);
  const restored = restoreCustomCalls(answer, request);
  const { id, created = head?.created } = restored;
  const completed = head?.now?.();
  const whole = { ...restored, id: ownId(id, client), created, completed };
  return CODECS[client].writeAnswer(whole, request);
}

/** Sets the name of the model in the origin of all reasoning. The upstream may report the model under another name. */
function fromModel(answer: Answer, model: string | undefined): Answer {
  if (model === undefined) return answer;
  return mapItems(answer, (item) =>
    item.type === "reasoning" && item.origin
      ? { ...item, origin: { ...item.origin, model } }
      : item,
  );
}

/** Start of the ids of answers, which some clients rely on. */
const ID_PREFIXES: Readonly<Record<DialectName, string>> = {
  chat: "",
  responses: "resp_",
  messages: "msg_",
};

/** The id of an answer in a dialect, from the id that it has in another one. */
function ownId(id: string, dialect: DialectName): string {
  const prefix = ID_PREFIXES[dialect];
  return id.startsWith(prefix) ? id : `${prefix}${id.replace(/^[a-z]+[_-]/, "")}`;
}

/** Translates a stream of the upstream to the client's dialect, event by event. */
export class StreamTranslator {
  readonly #parser: StreamParser;
  readonly #emit: Emit;
  /** Events for the client that were written since the last return. */
  #out = "";

  /** `watch` sees each event, to count tokens or to keep the text. */
  constructor(sides: Sides, watch?: (event: ItemEvent) => void) {
    const { upstream, client, request, answerTool, model, head } = sides;
    const { namespaces = new Map(), names = new Map() } = sides;
    const writer = CODECS[client].streamWriter(request);
    this.#parser = CODECS[upstream].streamParser();
    const emit = restoringCustomCalls(request, (event) => {
      watch?.(event);
      if (event.type === "done" && event.origin && model !== undefined) {
        this.#out += writer.write({ ...event, origin: { ...event.origin, model } });
        return;
      }
      if (event.type === "end") {
        this.#out += writer.write({ ...event, completed: head?.now?.() });
        return;
      }
      if (event.type !== "start") {
        this.#out += writer.write(event);
        return;
      }
      const { id, created = head?.created, usage = head?.usage } = event;
      this.#out += writer.write({ ...event, id: ownId(id, client), created, usage });
    });
    const whole = answerTool === undefined ? emit : answeringFromTool(answerTool, emit);
    this.#emit =
      names.size + namespaces.size === 0
        ? whole
        : mappingItems((item) => inNamespace(restoredName(item, names), namespaces), whole);
  }

  /** Takes the data of one server-sent event and returns the client's events, or "". */
  push(data: string): string {
    this.#out = "";
    this.#parser.push(data, this.#emit);
    return this.#out;
  }

  /** Returns the client's last events, after the upstream's last byte. */
  end(): string {
    this.#out = "";
    this.#parser.end(this.#emit);
    return this.#out;
  }
}
