import { isRecord, type Json } from "../../wire/json.ts";

/**
 * Path of the first content of a message, or of the result of a tool, that is neither text nor a list, such as
 * `messages[0].content`. A translation would read it as empty.
 */
export function wrongContent(list: unknown, name: string): string | undefined {
  return Array.isArray(list) ? wrongIn(list, name, messageMember) : undefined;
}

function wrongIn(
  list: readonly unknown[],
  name: string,
  memberOf: (item: Json) => string | undefined,
): string | undefined {
  for (const [i, item] of list.entries()) {
    const member = isRecord(item) ? memberOf(item) : undefined;
    if (member === undefined) continue;
    const content = (item as Json)[member];
    if (!isContent(content)) return `${name}[${i}].${member}`;
    if (!Array.isArray(content)) continue;
    const wrong = wrongIn(content, "", ({ type }) =>
      type === "tool_result" ? "content" : undefined,
    );
    if (wrong !== undefined) return `${name}[${i}].${member}${wrong}`;
  }
  return undefined;
}

/** Member that holds the content of a message, or of the result of a tool among the items of Responses. */
function messageMember({ type = "message" }: Json): string | undefined {
  if (type === "function_call_output" || type === "custom_tool_call_output") return "output";
  return type === "message" ? "content" : undefined;
}

export function isContent(content: unknown): boolean {
  return content == null || typeof content === "string" || Array.isArray(content);
}
