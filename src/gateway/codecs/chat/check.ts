import { isRecord, type Json } from "../../wire/json.ts";
import { Untranslatable } from "../items/unsupported.ts";

/**
 * Checks the members of a chat request that a translation reads. An upstream that speaks chat would
 * refuse them itself. Throws Untranslatable, which names the member.
 */
export function checkChat({ messages, tools }: Json): void {
  if (!Array.isArray(messages)) throw fault("messages", "is not a list");
  for (const [i, message] of messages.entries()) checkMessage(message, `messages[${i}]`);
  for (const [i, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    if (!isRecord(tool)) throw fault(`tools[${i}]`, "is not an object");
    if (tool.type === "function" && !isRecord(tool.function)) {
      throw fault(`tools[${i}].function`, "is missing");
    }
  }
}

const ROLES: ReadonlySet<unknown> = new Set([
  ...["system", "developer", "user", "assistant", "tool", "function"],
]);

function checkMessage(message: unknown, field: string): void {
  if (!isRecord(message)) throw fault(field, "is not an object");
  const { role, content, tool_call_id: id, tool_calls: calls } = message;
  if (!ROLES.has(role))
    throw fault(`${field}.role`, `is ${JSON.stringify(role)}, which is not a role`);
  if (role === "tool" && typeof id !== "string") {
    throw fault(`${field}.tool_call_id`, "is missing");
  }
  if (Array.isArray(content)) {
    for (const [i, part] of content.entries()) checkPart(part, `${field}.content[${i}]`);
  } else if (typeof content !== "string" && content !== null && content !== undefined) {
    throw fault(`${field}.content`, "is neither text nor a list of parts");
  }
  for (const [i, call] of (Array.isArray(calls) ? calls : []).entries()) {
    checkCall(call, `${field}.tool_calls[${i}]`);
  }
}

function checkPart(part: unknown, place: string): void {
  if (!isRecord(part)) throw fault(place, "is not an object");
  const { image_url: image, file } = part;
  if (part.type === "image_url" && typeof (isRecord(image) ? image.url : image) !== "string") {
    throw fault(`${place}.image_url`, "has no url");
  }
  if (part.type === "file" && !(isRecord(file) && typeof file.file_data === "string")) {
    throw fault(
      `${place}.file`,
      "has no file_data, and a file id of another provider is not known here",
    );
  }
}

function checkCall(call: unknown, place: string): void {
  if (!isRecord(call)) throw fault(place, "is not an object");
  if (isRecord(call.custom)) return;
  if (!isRecord(call.function)) throw fault(place, "is not a function call");
}

/** The error of a member. */
function fault(param: string, problem: string): Untranslatable {
  return new Untranslatable(`${param} ${problem}`, param);
}
