import { editMembers, isRecord, type Json, type Members, scanObject } from "../../wire/json.ts";
import type { Dialect, DuelHead, DuelWriter } from "../dialect.ts";
import { editingAnswers } from "../items/labels.ts";
import { responses } from "./responses.ts";

/** Settings and callbacks for storing the responses to one request. */
export interface ResponseState {
  /** Members of the response that the gateway sets, as JSON text. */
  readonly set: Readonly<Record<string, string>>;
  /**
   * Id of the response, if the request names a model. A routed response has the id of its decision.
   */
  readonly ownId?: string | undefined;
  /** Called when the response begins, with its ids at the upstream and here, and the model of a router. */
  readonly begun?:
    | ((upstreamId: string, id: string, model: string | undefined) => void)
    | undefined;
  /** Called with the complete response. */
  readonly complete?: ((response: Json) => void) | undefined;
}

/** OpenAI's Responses with a state that the gateway manages. */
export function storedResponses(state: ResponseState): Dialect {
  const { set, ownId, begun, complete } = state;
  const named = ownId === undefined ? set : { ...set, id: JSON.stringify(ownId) };
  const whole = (
    answer: Members,
    label: (answer: Members) => Uint8Array,
    members: ResponseState["set"],
    model?: string,
  ): Uint8Array => {
    const upstreamId = answer.value("id");
    const bytes = editMembers(scanObject(label(answer)), { set: members });
    if (!begun && !complete) return bytes;
    const response = JSON.parse(Buffer.from(bytes).toString());
    begun?.(String(upstreamId), response.id, model);
    complete?.(response);
    return bytes;
  };
  const stream = (
    label: (piece: Uint8Array) => Uint8Array,
    members: ResponseState["set"],
    model?: string,
  ) => {
    const edit = editingAnswers("responses", members);
    let upstreamId: string | undefined;
    return (piece: Uint8Array): Uint8Array => {
      const first = begun && upstreamId === undefined ? responseIn(piece)?.id : undefined;
      const bytes = edit(label(piece));
      if (typeof first === "string") {
        upstreamId = first;
        begun?.(first, String(responseIn(bytes)?.id), model);
      }
      const final = complete && finalIn(bytes);
      if (final) complete(final);
      return bytes;
    };
  };
  return {
    ...responses,
    label: (answer, labels) =>
      whole(answer, (own) => responses.label(own, labels), set, labels.model),
    labelStream: (labels, costOf) =>
      stream(responses.labelStream(labels, costOf), set, labels.model),
    duel: (head) => storedDuel(head, state),
    passing: {
      whole: (answer) => whole(answer, (own) => own.json, named),
      stream: () => stream((piece) => piece, named),
    },
  };
}

/** Writes a duel. Its first answer is the response, which is stored. */
function storedDuel(head: DuelHead, { set, complete }: ResponseState): DuelWriter {
  const writer = responses.duel(head);
  if (head.isSecond) return writer;
  const edit = editingAnswers("responses", set);
  const edited = (events: string) => Buffer.from(edit(Buffer.from(events))).toString();
  return {
    ...writer,
    whole: (answers, usage, joust) => {
      const whole = scanObject(Buffer.from(writer.whole(answers, usage, joust)));
      const text = Buffer.from(editMembers(whole, { set })).toString();
      complete?.({ ...JSON.parse(text), joust });
      return text;
    },
    open: (joust) => edited(writer.open(joust)),
    end: (usage, lost) => {
      const events = edited(writer.end(usage, lost));
      const final = complete && finalIn(Buffer.from(events));
      if (final) complete(withoutSecond(final));
      return events;
    },
  };
}

/** The first answer of a duel without the second one, which is not part of the conversation. */
function withoutSecond(response: Json): Json {
  if (!isRecord(response.joust)) return response;
  const { second: _, ...joust } = response.joust;
  return { ...response, joust };
}

/** The last response in the events of a piece. */
function responseIn(piece: Uint8Array): Json | undefined {
  return eventsIn(piece).at(-1)?.response as Json | undefined;
}

function finalIn(piece: Uint8Array): Json | undefined {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  if (!FINAL.some((type) => bytes.includes(`"${type}"`))) return undefined;
  const event = eventsIn(piece).findLast(({ type }) => FINAL.includes(String(type)));
  return event?.response as Json | undefined;
}

const FINAL = ["response.completed", "response.incomplete"];

/** Events that hold a response. */
function eventsIn(piece: Uint8Array): Json[] {
  return Buffer.from(piece)
    .toString()
    .split("\n")
    .filter((line) => line.startsWith("data:") && line.includes('"response"'))
    .map((line): unknown => JSON.parse(line.slice("data:".length)))
    .filter((event): event is Json => isRecord(event) && isRecord(event.response));
}
