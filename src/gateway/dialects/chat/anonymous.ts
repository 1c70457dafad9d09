import { isRecord, type Json } from "../../wire/json.ts";

/**
 * A choice of a completion, or of an event of its stream, without the members that only some hosts write. They
 * would reveal which host has answered. `callId` names the calls of tools.
 */
export function anonymousChoice(choice: Json, callId: (index: number) => string): Json {
  const { message, delta, finish_reason, logprobs } = choice;
  return {
    ...(isRecord(message) && { message: { role: "assistant", ...said(message, callId) } }),
    ...(isRecord(delta) && { delta: said(delta, callId) }),
    ...(isRecord(logprobs) && { logprobs }),
    finish_reason: finish_reason ?? null,
  };
}

/** The members of a message, or of a part of it, that all hosts have. */
function said(message: Json, callId: (index: number) => string): Json {
  const { content, refusal, reasoning_content, reasoning, tool_calls, audio, annotations } =
    message;
  const thought = reasoning_content ?? reasoning;
  return {
    ...(content !== undefined && { content }),
    ...(typeof refusal === "string" && refusal !== "" && { refusal }),
    ...(typeof thought === "string" && thought !== "" && { reasoning_content: thought }),
    ...(isRecord(audio) && { audio }),
    ...(Array.isArray(annotations) && annotations.length > 0 && { annotations }),
    ...(Array.isArray(tool_calls) &&
      tool_calls.length > 0 && {
        tool_calls: tool_calls.filter(isRecord).map((call, i) => anonymousCall(call, i, callId)),
      }),
  };
}

function anonymousCall(call: Json, place: number, callId: (index: number) => string): Json {
  const { id, index, type, function: called, custom } = call;
  const number = typeof index === "number" ? index : place;
  return {
    ...(typeof index === "number" && { index }),
    ...(typeof id === "string" && id !== "" && { id: callId(number) }),
    ...(type !== undefined && { type }),
    ...(called !== undefined && { function: called }),
    ...(custom !== undefined && { custom }),
  };
}
