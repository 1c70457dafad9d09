import { isRecord } from "../../wire/json-value.ts";

/**
 * The text that stands for a request: what the person asked last, with the
 * little context it needs, and without what harnesses put around it. Long
 * prompts are cut, never refused.
 */
export function promptOf(messages: readonly unknown[]): string {
  const turns = messages.flatMap((message) => {
    const said = isRecord(message) && message.role === "user" ? textOf(message.content) : "";
    const asked = withoutHarness(said);
    return asked === "" ? [] : [asked];
  });
  const last = turns.at(-1);
  if (last === undefined) return cut(anyText(messages));
  // "and in French?" tells nothing by itself.
  const before = SIX_WORDS.test(last) ? undefined : turns.at(-2);
  return before === undefined ? cut(last) : cut(`${cut(before)}\n${last}`);
}

const SIX_WORDS = /^(?:\S+\s+){5}\S/;

/** A message's text: a string, or its text parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/**
 * Blocks that editors, agents and chat programs add to a person's words:
 * reminders, states of the editor, attached files, retrieved passages. Where
 * nothing is left, the block was the question.
 */
function withoutHarness(text: string): string {
  const own = text.includes("<") ? withoutBlocks(text) : text;
  const left = own.includes("\n") ? own.replace(BLANK_LINES, "\n").trim() : own.trim();
  return left === "" ? text.trim() : left;
}

/** One pass: a tag that is not closed once is not looked for again. */
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

/** The beginning says what is asked, the end often repeats it; what lies between is material. */
function cut(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  return `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`;
}

const HEAD = 3000;
const TAIL = 1000;

/** Requests without a user's turn still have some text. */
function anyText(messages: readonly unknown[]): string {
  return messages
    .map((message) => (isRecord(message) ? textOf(message.content) : ""))
    .filter((text) => text !== "")
    .join("\n")
    .trim();
}
