import { createHash, hash as hashOf } from "node:crypto";
import { isRecord } from "../../wire/json.ts";
import type { History } from "../dialect.ts";
import { textOf } from "./prompt.ts";

/**
 * The history of a conversation. Each hash of a prefix covers the hash before it, so equal hashes mean equal
 * conversations. A conversation of very many messages has no prefixes, because hashing all of them would cost more time
 * than a recognised conversation saves. Requests with tools also have an opening, which identifies the agent.
 */
export function historyOf(messages: readonly unknown[], usesTools: boolean): History {
  const opening = usesTools ? openingOf(messages) : undefined;
  if (messages.length > MOST_MESSAGES) return { prefixes: [], opening };
  let hash = "";
  let characters = 0;
  let answered = 0;
  let isHead = true;
  // The shares are characters until the length of the conversation is known.
  const prefixes = messages.map((message) => {
    const { text, length } = digestible(message);
    isHead &&= isRecord(message) && HEAD_ROLES.has(message.role);
    hash = isHead && hash === "" ? hashOfInstructions(text) : nextHash(hash, text);
    characters += length;
    if (isRecord(message) && message.role === "assistant") answered += length;
    return { hash, share: characters, answerShare: answered, isHead };
  });
  for (const prefix of prefixes) {
    prefix.share /= Math.max(1, characters);
    prefix.answerShare /= Math.max(1, characters);
  }
  return { prefixes, opening };
}

const MOST_MESSAGES = 2000;
const HEAD_ROLES = new Set<unknown>(["system", "developer"]);

/** Hash of a prefix, from the hash of the prefix before it and its last message. */
function nextHash(before: string, message: string): string {
  return hashOf("sha256", `${before}\n${message}`, "base64url");
}

/** The instructions at the beginning of the last conversation, and their hash. A program sends the same ones with every request. */
let lastInstructions = "";
let lastHash = nextHash("", "");

function hashOfInstructions(text: string): string {
  if (text !== lastInstructions) {
    lastHash = nextHash("", text);
    lastInstructions = text;
  }
  return lastHash;
}

/** Text that identifies a message, and the number of its characters. Long values are shortened. */
function digestible(message: unknown): { text: string; length: number } {
  const plain = plainText(message);
  if (plain) return plain;
  let length = 0;
  const text = JSON.stringify(message, (_, value: unknown) => {
    if (typeof value !== "string") return value;
    // Attached images and sounds are not text.
    if (!value.startsWith("data:")) length += value.length;
    return value.length <= LONG
      ? value
      : [value.length, value.slice(0, LONG / 2), value.slice(-LONG / 2)];
  });
  return { text: text ?? "", length };
}

const LONG = 32_768;

/**
 * Does the same as `digestible` for a message that is only a role and a short text, as most are. It
 * is faster, and its texts cannot be equal to JSON texts, which begin with other characters.
 */
function plainText(message: unknown): { text: string; length: number } | undefined {
  if (!isRecord(message)) return undefined;
  const { role, content } = message;
  if (typeof role !== "string" || typeof content !== "string") return undefined;
  if (role.startsWith("data:") || content.startsWith("data:")) return undefined;
  if (role.length > LONG || content.length > LONG) return undefined;
  let members = 0;
  for (const _ in message) members++;
  if (members !== 2) return undefined;
  return { text: `${role.length} ${role}${content}`, length: role.length + content.length };
}

function openingOf(messages: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    if (!isRecord(message)) continue;
    if (message.role === "assistant") break;
    hash.update(`${message.role}\n${textOf(message.content)}\n`);
  }
  return hash.digest("base64url");
}
