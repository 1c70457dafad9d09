import { sse } from "../../codecs/items/codec.ts";
import { writeError, writeResponse } from "../../codecs/responses/answer.ts";
import { responsesCodec } from "../../codecs/responses/codec.ts";
import { answerText, streamText } from "../answer-text.ts";
import { bodyOf } from "../body.ts";
import { checkContents, type Dialect, missingMember } from "../dialect.ts";
import { conversationOf } from "../items/conversation.ts";
import { itemDuel } from "../items/duel.ts";
import { labelStream, labelWhole } from "../items/labels.ts";
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
  // Some clients read the event `error`, others the response that failed.
  errorEvent: (error) => {
    const { message, code, param = null, hint } = errorFields(error);
    const failed = {
      ...writeResponse({ id: "", model: "" }, undefined, "failed", []),
      error: writeError({ code, message }),
    };
    return (
      sse("error", JSON.stringify({ type: "error", code: code ?? null, message, param, hint })) +
      sse("response.failed", JSON.stringify({ type: "response.failed", response: failed }))
    );
  },
  duel: (head) => itemDuel("responses", head),
};
