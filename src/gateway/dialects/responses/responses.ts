import type { StartEvent } from "../../codecs/items/event.ts";
import { responsesCodec } from "../../codecs/responses/codec.ts";
import { ResponsesStreamWriter } from "../../codecs/responses/stream-writer.ts";
import { answerText, streamText } from "../answer-text.ts";
import { bodyOf } from "../body.ts";
import { checkContents, type Dialect, missingMember } from "../dialect.ts";
import { conversationOf } from "../items/conversation.ts";
import { itemDuel } from "../items/duel.ts";
import { labelStream, labelWhole } from "../items/labels.ts";
import { rewriter } from "../rewriter.ts";
import { errorFields } from "../upstream-error.ts";

/** Members that hold the input of a request. A request must have at least one of them. */
const INPUTS = ["input", "previous_response_id", "conversation", "prompt"];
const INPUT_HINT =
  "send a text or a list of items; the member messages belongs to /v1/chat/completions and /v1/messages";

/** OpenAI's Responses. */
export const responses: Dialect = {
  name: "responses",
  endpoint: "responses",
  passedHeaders: [],
  read: (members, headers) => {
    const body = bodyOf(members);
    if (!INPUTS.some((name) => (body[name] ?? undefined) !== undefined)) {
      throw missingMember("input", INPUT_HINT);
    }
    checkContents(body.input, "input");
    return conversationOf(responsesCodec.parseRequest(body), members, headers);
  },
  label: labelWhole("responses"),
  labelStream: labelStream("responses"),
  textOf: (answer) => answerText("responses", answer),
  streamText: () => streamText("responses"),
  errorEvent: (error, first, last) =>
    new ResponsesStreamWriter(undefined, nextNumber(last), startIn(first)).write({
      type: "error",
      error: errorFields(error),
    }),
  duel: (head) => itemDuel("responses", head),
};

/** The event in the first piece of a stream that begins the response. */
function startIn(piece: Uint8Array = new Uint8Array()): StartEvent | undefined {
  let start: StartEvent | undefined;
  const { push } = rewriter("responses", (event) => {
    if (event.type === "start") start = event;
    return "";
  });
  push(piece);
  return start;
}

/** Number of the event after the last one in a piece of a stream. */
function nextNumber(piece: Uint8Array = new Uint8Array()): number {
  const numbers = Buffer.from(piece)
    .toString()
    .matchAll(/"sequence_number"\s*:\s*(\d+)/g);
  return Number([...numbers].at(-1)?.[1] ?? -1) + 1;
}
