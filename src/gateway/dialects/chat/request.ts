import type { Members } from "../../wire/json-scan.ts";
import { isRecord } from "../../wire/json-value.ts";
import type { Conversation, RequestHeaders } from "../dialect.ts";
import { invalidMember } from "../read-request.ts";
import { readOptions } from "./joust-options.ts";
import { needsOf } from "./needs.ts";
import { promptOf } from "./prompt.ts";

export function readConversation(members: Members, headers: RequestHeaders): Conversation {
  const messages = members.value("messages");
  if (!Array.isArray(messages)) throw invalidMember("messages", "has to be a list of messages");
  const { valueStart, valueEnd } = members.find("messages")!;
  const request = {
    messages,
    tools: members.value("tools"),
    functions: members.value("functions"),
    response_format: members.value("response_format"),
    max_tokens: members.value("max_tokens"),
    max_completion_tokens: members.value("max_completion_tokens"),
  };
  const n = members.value("n");
  const options = members.value("stream_options");
  return {
    prompt: promptOf(messages),
    messages,
    needs: needsOf(request, valueEnd - valueStart),
    n: typeof n === "number" ? n : 1,
    wantsUsage: isRecord(options) && options.include_usage === true,
    inToolLoop: isToolResult(messages.at(-1)),
    isRunning: messages.some((message) => isRecord(message) && message.role === "assistant"),
    options: readOptions(members.value("joust"), headers),
  };
}

function isToolResult(message: unknown): boolean {
  return isRecord(message) && (message.role === "tool" || message.role === "function");
}
