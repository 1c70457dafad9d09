import { isRecord, type Json } from "../../wire/json.ts";

/**
 * Path of the first message whose content is neither text nor a list, such as `messages[0].content`. A
 * translation would read such a message as empty.
 */
export function wrongContent(list: unknown, name: string): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const index = list.findIndex((item) => isMessage(item) && !isContent(item.content));
  return index < 0 ? undefined : `${name}[${index}].content`;
}

/** Whether an entry is a message. Responses have other items in the same list. */
function isMessage(item: unknown): item is Json {
  return isRecord(item) && (item.type === undefined || item.type === "message");
}

function isContent(content: unknown): boolean {
  return content == null || typeof content === "string" || Array.isArray(content);
}
