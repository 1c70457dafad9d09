import { isRecord } from "../../wire/json.ts";

/**
 * The text that stands for a request in routing: the user's last message, without the blocks
 * that programs add, and with the message before it if it is very short. A long text is cut.
 */
export function promptOf(messages: readonly unknown[]): string {
  let texts = lastTexts(messages, ownText);
  // Messages that only consist of such blocks count if there is no other message.
  if (texts.length === 0) texts = lastTexts(messages, (text) => text.trim());
  const [last, before] = texts;
  if (last === undefined) return cut(anyText(messages));
  return before === undefined ? cut(last) : cut(`${cut(before)}\n${last}`);
}

/**
 * The user's last message, as `read` returns it. If it has fewer than six words, such as "and in French?", the
 * message before it follows in the list. Messages of which `read` leaves nothing are skipped.
 */
function lastTexts(messages: readonly unknown[], read: (text: string) => string): string[] {
  const found: string[] = [];
  for (let i = messages.length - 1; i >= 0 && found.length < 2; i--) {
    const message = messages[i];
    const text = isRecord(message) && message.role === "user" ? read(textOf(message.content)) : "";
    if (text === "") continue;
    found.push(text);
    if (SIX_WORDS.test(text)) break;
  }
  return found;
}

const SIX_WORDS = /^(?:\S+\s+){5}\S/;

/** Text of a message's content, which is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/**
 * Removes the blocks that editors, agents and chat programs add: reminders, states of the editor,
 * attached files, retrieved passages. If nothing else is left, the blocks are kept.
 */
function ownText(text: string): string {
  const own = text.includes("<") ? withoutBlocks(text) : text;
  return own.includes("\n") ? own.replace(BLANK_LINES, "\n").trim() : own.trim();
}

/** Removes blocks in one pass. The end of a tag that was not found is not searched again. */
function withoutBlocks(text: string): string {
  const open = new RegExp(OPEN);
  const unclosed = new Set<string>();
  let left = "";
  let from = 0;
  for (let tag = open.exec(text); tag; tag = open.exec(text)) {
    const close = `</${tag[1]}>`;
    const end = unclosed.has(close) ? -1 : text.indexOf(close, open.lastIndex);
    if (end < 0) {
      unclosed.add(close);
      continue;
    }
    left += `${text.slice(from, tag.index)}\n`;
    from = end + close.length;
    open.lastIndex = from;
  }
  return left + text.slice(from);
}

const TAGS = [
  "system[-_]reminder",
  "environment[-_](?:details|context)",
  "(?:user_|project_)?(?:instructions|rules|memories)",
  "(?:additional_|editor_|open_|ide_)?(?:context|state|files?|selection)",
  "attached[-_]files?",
  "attachments?",
  "documents?",
  "file[-_]contents?",
  "tool[-_]results?",
  "function[-_]results?",
  "command-(?:name|message|args)",
  "local-command-stdout",
];
const OPEN = new RegExp(`<(${TAGS.join("|")})(?:\\s[^<>]{0,300})?>`, "gi");
const BLANK_LINES = /\n\s*\n+/g;

/** Keeps the beginning, which contains the task, and the end, which often repeats it. */
function cut(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  return `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`;
}

const HEAD = 3000;
const TAIL = 1000;

/** Text of all messages, for requests without a message of the user. */
function anyText(messages: readonly unknown[]): string {
  return messages
    .map((message) => (isRecord(message) ? textOf(message.content) : ""))
    .filter((text) => text !== "")
    .join("\n")
    .trim();
}
